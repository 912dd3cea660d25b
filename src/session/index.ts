/**
 * `bough/session`: where sessions live, for programs that open, walk, extend, list and check them. What a session is
 * made of comes from `bough/tree`; the tests for a store of your own from `bough/session/conformance`.
 * Part of `session/`: its public face, used from outside only; `docs/library.md` shows it at work.
 */
export { findSession, listAllSessions, listSessions } from "./catalog.ts";
export type { ListOptions, SessionInfo } from "./catalog.ts";
export { diagnose } from "./doctor.ts";
export type { Diagnosis } from "./doctor.ts";
export { FileStore } from "./file-store.ts";
export { sessionsDir, stateDir } from "./locations.ts";
export { MemoryStore } from "./memory-store.ts";
export { SessionFileError, SessionInUse } from "./session-errors.ts";
export type { SessionFileErrorCode } from "./session-errors.ts";
export { SessionManager } from "./session-manager.ts";
export type { SessionIndexView, StorableMessage } from "./session-manager.ts";
export type { SessionStore } from "./session-store.ts";
export type { SessionSummary } from "./session-scan.ts";
export type { FollowNews } from "./follower.ts";
export type { SavingEvent, SavingListener } from "./session-writer.ts";
