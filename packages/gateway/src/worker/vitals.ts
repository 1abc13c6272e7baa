import { PerformanceObserver } from 'node:perf_hooks'
import { CAPTURE_MEMORY } from '@sluice/core'
import { REQUEST_MEMORY } from '../flow/arriving-body.js'
import { RESPONSE_MEMORY } from '../flow/response-buffer.js'
import { REFUSED_STREAMS } from '../listen/node/http2/stream-queue.js'
import { heapLimitBytes, heapUsedBytes } from '../telemetry/process-memory.js'
import type { Sample } from '../telemetry/sample.js'
import { label } from '../telemetry/text-format.js'
import { LoopLag } from './loop-lag.js'

/** Help texts of the process metrics of each worker. */
export const VITALS_HELP: Readonly<Record<string, string>> = {
  gw_worker_heap_used_bytes: 'JavaScript heap in use by the worker.',
  gw_worker_heap_limit_bytes: 'Maximum size of the JavaScript heap of the worker.',
  gw_worker_gc_total: 'Garbage collections of the worker.',
  gw_worker_gc_seconds_total: 'Time the worker spent in garbage collections.',
  gw_worker_loop_delay_seconds: 'Event loop delays of the worker, measured every 20 ms.',
  gw_worker_capture_held_bytes: 'Memory used by captured bodies of requests in flight.',
  gw_worker_http2_streams_refused_total: 'HTTP/2 streams refused because the queue of new requests was full.',
  gw_worker_request_buffer_bytes: 'Memory used by request bodies that are still arriving.',
  gw_worker_response_buffer_bytes: 'Memory used by responses buffered for slow clients.',
  gw_worker_capture_cut_total: 'Captured bodies truncated because all of them together used too much memory.',
}

/** Health metrics of this process: heap, garbage collection, event loop and captured bodies. */
export class Vitals {
  readonly lag: LoopLag
  readonly #observer: PerformanceObserver
  #collections = 0
  #collectionMs = 0

  /** @param onLoopCheck called after each measurement of the event loop's delay. */
  constructor(onLoopCheck: () => void = () => {}) {
    this.lag = new LoopLag(onLoopCheck)
    this.#observer = new PerformanceObserver((list) => {
      for (const { duration } of list.getEntries()) {
        this.#collections++
        this.#collectionMs += duration
      }
    })
    this.#observer.observe({ entryTypes: ['gc'] })
  }

  samples(worker: number): Sample[] {
    const labels = label('worker', String(worker))
    return [
      { name: 'gw_worker_heap_used_bytes', labels, value: heapUsedBytes() },
      { name: 'gw_worker_heap_limit_bytes', labels, value: heapLimitBytes() },
      { name: 'gw_worker_gc_total', labels, value: this.#collections },
      { name: 'gw_worker_gc_seconds_total', labels, value: this.#collectionMs / 1000 },
      ...this.lag.samples(labels),
      { name: 'gw_worker_capture_held_bytes', labels, value: CAPTURE_MEMORY.heldBytes },
      { name: 'gw_worker_request_buffer_bytes', labels, value: REQUEST_MEMORY.heldBytes },
      { name: 'gw_worker_response_buffer_bytes', labels, value: RESPONSE_MEMORY.heldBytes },
      { name: 'gw_worker_http2_streams_refused_total', labels, value: REFUSED_STREAMS.count },
      { name: 'gw_worker_capture_cut_total', labels, value: CAPTURE_MEMORY.cutBodies },
    ]
  }

  close(): void {
    this.#observer.disconnect()
    this.lag.close()
  }
}
