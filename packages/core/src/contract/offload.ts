import type { Exchange } from './exchange.js'

/** What runs on a thread: made once for its configuration, then called for each input. */
export type OffloadedWork<C, I, O> = (config: C) => Worker<I, O> | Promise<Worker<I, O>>

type Worker<I, O> = (input: I) => O | Promise<O>

/** Bodies from this size on are worth a thread: below, handing them over costs more than the time others would wait. */
export const OFFLOAD_BYTES = 32 * 1024

/** A kind of work on the threads of a pool. */
export interface Offload<I, O> {
  /**
   * @param input is cloned, its buffers too: what is transferred would be gone for all that read it later.
   * @param x what it is for: once that has ended nobody waits for the work any more, and it is not begun.
   * @throws Overload when as much waits for a thread as may wait; Overtime; Error with the message of what the work threw.
   */
  run(input: I, x: Pick<Exchange, 'endedMono'>): Promise<O>
}

/** The pool has no room: the request is refused with 503. */
export class Overload extends Error {}

/** The work took longer than it may, and was ended with its thread. */
export class Overtime extends Error {}
