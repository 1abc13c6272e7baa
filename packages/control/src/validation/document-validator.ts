import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Validation, ValidationRequest } from './validation.js'

/** Limits of a validation. */
const TIMEOUT_MS = 60_000
const MEMORY_MB = 1024
/** Maximum number of validations that wait. */
const MAX_WAITING = 8
/** Time after which an unused process ends, in milliseconds. */
const IDLE_MS = 300_000
const PROGRAM = fileURLToPath(new URL('./validation-program.js', import.meta.url))

/**
 * Checks documents in a process of their own, one at a time: they take seconds and hundreds of megabytes, and a document
 * that exhausts the memory must not end the controller.
 */
export class DocumentValidator {
  #process: ChildProcess | null = null
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0
  #idleTimer: NodeJS.Timeout | undefined

  /**
   * Checks a bundle, which is loaded when its turn comes. Returns null if too many are waiting.
   * @throws Error if it takes too long or too much memory, or the error of `load`
   */
  async validate(load: () => Promise<ValidationRequest>): Promise<Validation | null> {
    if (this.#waiting >= MAX_WAITING) return null
    this.#waiting++
    const validation = this.#last
      .then(load)
      .then((request) => this.#run(request))
      .finally(() => this.#waiting--)
    this.#last = validation.catch(() => {})
    return validation
  }

  /** Ends the process. */
  close(): void {
    clearTimeout(this.#idleTimer)
    this.#process?.kill('SIGKILL')
    this.#process = null
  }

  #run(request: ValidationRequest): Promise<Validation> {
    clearTimeout(this.#idleTimer)
    const child = this.#process ?? this.#start()
    return new Promise<Validation>((resolve, reject) => {
      const onExit = (): void => {
        clearTimeout(timer)
        reject(new Error('the process that checks documents ended without a result'))
      }
      const timer = setTimeout(() => {
        reject(new Error(`the document was not checked within ${TIMEOUT_MS / 1000} s`))
        child.kill('SIGKILL')
      }, TIMEOUT_MS)
      child.once('exit', onExit)
      child.once('message', (validation) => {
        clearTimeout(timer)
        child.off('exit', onExit)
        this.#idleTimer = setTimeout(() => this.close(), IDLE_MS).unref()
        resolve(validation as Validation)
      })
      // A failed send is followed by the exit.
      child.send(request, () => {})
    })
  }

  /** Starts a process without the controller's variables: documents must not depend on them. */
  #start(): ChildProcess {
    const child = fork(PROGRAM, {
      env: {},
      execArgv: [`--max-old-space-size=${MEMORY_MB}`],
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    })
    child.on('error', () => {})
    child.once('exit', () => {
      if (this.#process === child) this.#process = null
    })
    this.#process = child
    return child
  }
}
