import { EventEmitter } from 'node:events'
import type { FromWorker, ToWorker } from '../../worker/messages.js'
import type { WorkerProcess } from '../workers/worker-handle.js'

/** A worker process scripted by the test. */
export class FakeProcess extends EventEmitter implements WorkerProcess {
  readonly heard: ToWorker[] = []
  readonly signals: string[] = []
  isOpen = true
  readonly process = {
    pid: 42,
    kill: (signal: string): boolean => {
      this.signals.push(signal)
      this.end(null, signal)
      return true
    },
  }

  isConnected(): boolean {
    return this.isOpen
  }

  send(message: ToWorker): boolean {
    this.heard.push(message)
    return true
  }

  say(message: FromWorker): void {
    this.emit('message', message)
  }

  end(code: number | null, signal: string | null): void {
    this.isOpen = false
    this.emit('exit', code, signal)
  }
}
