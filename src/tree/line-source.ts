/**
 * The port through which `tree/` reads bytes; session/ implements it by pread, a page over memory.
 * Part of `tree/`: pure.
 */
export interface LineSource {
  /**
   * Up to `length` bytes from `offset`, fewer at the end. Synchronous. `memory` has room for `length` bytes and may
   * hold the result, which then lasts until it is used again.
   */
  read(offset: number, length: number, memory?: Uint8Array): Uint8Array;
}
