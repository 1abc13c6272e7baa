import { BODY_PARTS, Body, BodyError } from './body.js'
import { CALL_PARTS, Call, type CallInput } from './call.js'
import { FIELDS_PARTS, Fields } from './fields.js'
import { HARDEN_PARTS, harden } from './harden.js'

/** Interface between the gateway and a script. */
export interface Bridge {
  /** Registers the exports of the script and returns the names of its hooks. */
  load(exported: Record<string, unknown>): string
  /** Calls a hook. Call `finish` for the result after all promise callbacks have run. */
  start(hook: string, input: string, body: string): void
  /**
   * Returns the result of the last call: `=` and the changes, `!` and an error, or `?` while the hook still waits for
   * a promise.
   */
  finish(): string
  /** Formats a thrown value like the error of `finish`. */
  describe(thrown: unknown): string
}

function bridge(): Bridge {
  harden([Fields, Body, BodyError, Call])
  const hooks = new Map<string, (context: object) => unknown>()
  let last: { readonly made: Call | null; answer: string } = { made: null, answer: '?' }

  const start = (hook: string, input: string, body: string): void => {
    try {
      const made = new Call(JSON.parse(input) as CallInput, body)
      const turn = { made, answer: '=' }
      last = turn
      const result = hooks.get(hook)!(made.context)
      // Treats any object like `await` does: a promise may lack its prototype or come from a library.
      if (typeof result === 'object' ? result !== null : typeof result === 'function') wait(result, turn)
    } catch (error) {
      last = { made: null, answer: `!${described(error)}` }
    }
  }

  const wait = (result: unknown, turn: { answer: string }): void => {
    turn.answer = '?'
    const settled = new Promise((resolve) => resolve(result))
    const succeed = (): void => {
      turn.answer = '='
    }
    settled.then(succeed, (error: unknown) => {
      turn.answer = `!${described(error)}`
    })
  }

  const finish = (): string => {
    const { made, answer } = last
    if (made === null || answer !== '=') return answer
    try {
      return `=${made.finish()}`
    } catch (error) {
      return `!${described(error)}`
    }
  }

  return Object.freeze({
    load(exported: Record<string, unknown>): string {
      for (const name of Object.keys(exported)) {
        const hook = exported[name]
        if (typeof hook === 'function') hooks.set(name, hook as () => unknown)
      }
      return [...hooks.keys()].join(' ')
    },
    start,
    finish,
    describe: (thrown: unknown) => `!${described(thrown)}`,
  })
}

/** Formats a thrown value as JSON. Must not throw for any value. */
function described(error: unknown): string {
  const read = (key: 'name' | 'message' | 'stack'): string => {
    try {
      return String((error as Error)[key] ?? '').slice(0, 2000)
    } catch {
      return ''
    }
  }
  const isError = error instanceof Error
  const isBody = error instanceof BodyError
  try {
    const message = isError ? read('message') : String(error).slice(0, 2000)
    const name = isError ? read('name') : ''
    return JSON.stringify({ name, message, stack: isError ? read('stack') : '', isBody })
  } catch {
    return JSON.stringify({
      name: '',
      message: 'the thrown value cannot be converted to text',
      stack: '',
      isBody,
    })
  }
}

const PARTS = [...FIELDS_PARTS, ...BODY_PARTS, ...CALL_PARTS, ...HARDEN_PARTS, described, bridge]

/** Source code of the runtime around a script, for use inside the sandbox. Evaluates to the Bridge. */
export const RUNTIME_SOURCE = `(() => {'use strict'\n${PARTS.map(String).join('\n')}\nreturn bridge()\n})()`
