import type { Exchange } from './exchange.js'

/**
 * Entry point of an offload module. Called once per thread and configuration. The returned function processes
 * each input.
 */
export type OffloadedWork<C, I, O> = (config: C) => Worker<I, O> | Promise<Worker<I, O>>

type Worker<I, O> = (input: I) => O | Promise<O>

/**
 * Minimum body size for offloading, in bytes. For smaller bodies, handing them over costs more than
 * processing them in place.
 */
export const OFFLOAD_BYTES = 32 * 1024

/** Work that runs on a thread pool. */
export interface Offload<I, O> {
  /**
   * Runs the work on one input.
   * @param input Cloned, including its buffers. Transferring them would detach buffers that are still in use.
   * @param x The exchange that needs the result. If it ends before the work starts, the work is skipped.
   * @throws Overload if the queue of the pool is full, Overtime if the work takes too long, or Error with the
   * message of an error thrown by the work.
   */
  run(input: I, x: Pick<Exchange, 'endedMono'>): Promise<O>
}

/** Error for a full thread pool. The request is refused with 503. */
export class Overload extends Error {}

/** Error for work that exceeded its time limit. Its thread was terminated. */
export class Overtime extends Error {}
