/**
 * The port through which `tree/` reads bytes; session/ implements it by pread, a page over memory.
 * Part of `tree/`: pure.
 */
export interface LineSource {
  /** Up to `length` bytes from `offset`, fewer at the end. Synchronous. */
  read(offset: number, length: number): Uint8Array;
}
