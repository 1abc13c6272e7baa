import { BODY_PARTS, Body, BodyError } from './body.js'
import { CALL_PARTS, Call, type CallInput } from './call.js'
import { FIELDS_PARTS, Fields } from './fields.js'
import { HARDEN_PARTS, harden } from './harden.js'

/** How the gateway reaches a script; all answers are texts whose first letter says what they are. */
export interface Bridge {
  /** Takes the exports of the script; answers with the names of its hooks. */
  load(exported: Record<string, unknown>): string
  /** `=` and the changes, `!` and an error, `?` when the script waits for a promise. */
  call(hook: string, input: string, body: string): string
  /** The same once the promises have had their turn. */
  settle(): string
}

/** Makes the bridge inside the sandbox. */
function bridge(): Bridge {
  harden([Fields, Body, BodyError, Call])
  const hooks = new Map<string, (context: object) => unknown>()
  let waiting: { answer: string } | null = null

  const call = (hook: string, input: string, body: string): string => {
    waiting = null
    try {
      const made = new Call(JSON.parse(input) as CallInput, body)
      const result = hooks.get(hook)!(made.context)
      if (!(result instanceof Promise)) return `=${made.finish()}`
      return wait(result, made)
    } catch (error) {
      return `!${described(error)}`
    }
  }

  const wait = (result: Promise<unknown>, made: Call): string => {
    const turn = { answer: '?' }
    waiting = turn
    const succeed = (): void => {
      turn.answer = `=${made.finish()}`
    }
    result.then(succeed).catch((error: unknown) => {
      turn.answer = `!${described(error)}`
    })
    return '?'
  }

  return Object.freeze({
    load(exported: Record<string, unknown>): string {
      for (const name of Object.keys(exported)) {
        const hook = exported[name]
        if (typeof hook === 'function') hooks.set(name, hook as () => unknown)
      }
      return [...hooks.keys()].join(' ')
    },
    call,
    settle: () => waiting?.answer ?? '?',
  })
}

/** What was thrown, as JSON; whatever it is, telling it must not throw again. */
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
    return JSON.stringify({ name: '', message: 'what was thrown has no text', stack: '', isBody })
  }
}

const PARTS = [...FIELDS_PARTS, ...BODY_PARTS, ...CALL_PARTS, ...HARDEN_PARTS, described, bridge]

/** The source of what runs around a script, inside its sandbox; its value is the Bridge. */
export const RUNTIME_SOURCE = `(() => {'use strict'\n${PARTS.map(String).join('\n')}\nreturn bridge()\n})()`
