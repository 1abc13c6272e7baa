import { Worker } from 'node:worker_threads'
import type { Validation, ValidationRequest } from './validation.js'

/** Limits of a validation. */
const TIMEOUT_MS = 60_000
const MEMORY_MB = 1024
/** Maximum number of validations that wait. */
const MAX_WAITING = 8

/**
 * Checks documents on threads, one at a time. A thread lives for one document only, so that its memory is free afterwards.
 */
export class DocumentValidator {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  /** Checks a bundle. Returns null if too many are waiting. @throws Error if it takes too long or too much memory */
  async validate(request: ValidationRequest): Promise<Validation | null> {
    if (this.#waiting >= MAX_WAITING) return null
    this.#waiting++
    const validation = this.#last.then(() => onThread(request)).finally(() => this.#waiting--)
    this.#last = validation.catch(() => {})
    return validation
  }
}

function onThread(request: ValidationRequest): Promise<Validation> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(new URL('./validation-thread.js', import.meta.url), {
      workerData: request,
      resourceLimits: { maxOldGenerationSizeMb: MEMORY_MB },
    })
    const timer = setTimeout(() => {
      reject(new Error(`the document could not be checked within ${TIMEOUT_MS / 1000} s`))
      void thread.terminate()
    }, TIMEOUT_MS)
    thread.once('message', (validation: Validation) => {
      resolve(validation)
      void thread.terminate()
    })
    thread.once('error', reject)
    thread.once('exit', () => {
      clearTimeout(timer)
      reject(new Error('the thread that checks documents ended without a result'))
    })
  })
}
