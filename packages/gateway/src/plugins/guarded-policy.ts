import type { PluginPlan } from '@sluice/config'
import {
  type CompileEnv,
  checkExchange,
  type Eventual,
  type Exchange,
  type Outcome,
  type Policy,
  type ResettableValues,
  resetInvalid,
  resettableValues,
  type Step,
  validateHookResult,
} from '@sluice/core'
import type { RunMarks } from './run-marks.js'

/** Time limit for a plugin's `compile`, in milliseconds. */
const COMPILE_MS = 10_000

/** Called before plugin code runs, and awaited. */
export type Announce = (what: string) => Promise<void>

const HOOKS = ['onRequest', 'onRequestBody', 'onAttempt', 'onResponse', 'onResponseBody'] as const
type HookName = (typeof HOOKS)[number]

/**
 * Wraps a plugin's policy so that its mistakes do no further harm. Errors name the plugin. Results and
 * changes to the exchange are checked before use. A failure affects only the policy's own route, which then
 * refuses requests.
 */
export function guardedPolicy(
  policy: Policy,
  { name: plugin }: PluginPlan,
  { marks, announce }: { readonly marks: RunMarks; readonly announce: Announce },
): Policy {
  const label = `policy '${policy.name}' of the plugin '${plugin}'`
  const compiling = marks.markOf(`${label}: compile`)
  return {
    ...policy,
    ...(policy.secretNames === undefined ? {} : { secretNames: guardedNames(policy, label) }),
    compile: async (config: unknown, env: CompileEnv) => {
      await announce(`compiling the ${label}`)
      marks.begin(compiling)
      let made: Step | null | Promise<Step | null>
      try {
        made = policy.compile(config as never, env)
      } finally {
        marks.end()
      }
      const step: unknown = await inTime(made)
      return step === null ? null : guardedStep(step, { label, plugin, marks })
    },
  }
}

function guardedNames(policy: Policy, label: string): (config: unknown) => readonly string[] {
  return (config) => {
    const names: unknown = policy.secretNames?.(config as never)
    if (Array.isArray(names) && names.every((name) => typeof name === 'string')) return names
    throw new Error(`${label}: secretNames must return a list of strings`)
  }
}

async function inTime<T>(made: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`compile did not finish within ${COMPILE_MS / 1000} s`)
    timer = setTimeout(() => reject(error), COMPILE_MS)
  })
  return Promise.race([made, late]).finally(() => clearTimeout(timer))
}

interface Guard {
  readonly label: string
  readonly plugin: string
  readonly marks: RunMarks
}

function guardedStep(value: unknown, guard: Guard): Step {
  if (typeof value !== 'object' || value === null)
    throw new Error(
      `compile returned ${value === undefined ? 'undefined' : typeof value}; return hooks or null`,
    )
  const step = value as Step
  const wrapped: Record<string, unknown> = { name: String(step.name ?? guard.plugin) }
  for (const hook of HOOKS) if (step[hook] !== undefined) wrapped[hook] = guardedHook(step, hook, guard)
  if (step.decidesOnBody === true) wrapped['decidesOnBody'] = true
  if (step.onRejected !== undefined) wrapped['onRejected'] = guardedRejection(step, guard)
  if (step.onFinish !== undefined) wrapped['onFinish'] = guardedFinish(step, guard)
  if (Object.keys(wrapped).every((key) => key === 'name' || key === 'decidesOnBody'))
    throw new Error(
      `compile returned no hook; return at least one of ${HOOKS.join(', ')}, onRejected, onFinish, or null`,
    )
  return wrapped as unknown as Step
}

function guardedHook(step: Step, name: HookName, guard: Guard): (x: Exchange, body: Uint8Array) => Eventual {
  const { label, marks } = guard
  if (typeof step[name] !== 'function') throw new Error(`${name} is not a function`)
  const hook = step[name].bind(step) as (x: Exchange, body: Uint8Array) => unknown
  const mark = marks.markOf(`${label}: ${name}`)
  const check = (x: Exchange, before: ResettableValues, value: unknown): Outcome => {
    checkExchange(x, before)
    return validateHookResult(value)
  }
  const failed = (x: Exchange, before: ResettableValues, error: unknown): never => {
    resetInvalid(x, before)
    return fail(error, label, name)
  }
  return (x, body) => {
    const before = resettableValues(x)
    marks.begin(mark)
    try {
      const outcome = hook(x, body)
      if (!isThenable(outcome)) return check(x, before, outcome)
      return Promise.resolve(outcome)
        .then((late: unknown) => check(x, before, late))
        .catch((error: unknown) => failed(x, before, error))
    } catch (error) {
      return failed(x, before, error)
    } finally {
      marks.end()
    }
  }
}

/**
 * Returns true for anything that `await` waits for: promises of this realm, of another one, or of a library.
 */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    (value instanceof Promise || typeof (value as { then?: unknown }).then === 'function')
  )
}

function guardedRejection(step: Step, { label, marks }: Guard): NonNullable<Step['onRejected']> {
  if (typeof step.onRejected !== 'function') throw new Error('onRejected is not a function')
  const hook = step.onRejected.bind(step)
  const mark = marks.markOf(`${label}: onRejected`)
  return (x, answer) => {
    const before = resettableValues(x)
    marks.begin(mark)
    try {
      const isRenewed: unknown = hook(x, { status: answer.status, fields: answer.fields.slice() })
      checkExchange(x, before)
      return isRenewed === true
    } catch (error) {
      resetInvalid(x, before)
      throw error
    } finally {
      marks.end()
    }
  }
}

function guardedFinish(step: Step, { label, marks }: Guard): (x: Exchange) => void {
  if (typeof step.onFinish !== 'function') throw new Error('onFinish is not a function')
  const hook = step.onFinish.bind(step)
  const mark = marks.markOf(`${label}: onFinish`)
  return (x) => {
    marks.begin(mark)
    try {
      hook(x)
    } finally {
      marks.end()
    }
  }
}

/**
 * Rethrows an error. Errors with an error code, such as for an unreadable body, stay unchanged; others get
 * the plugin's name.
 */
function fail(error: unknown, label: string, hook: string): never {
  if (error instanceof Error && 'code' in error && 'detail' in error) throw error
  const message = error instanceof Error ? error.message : 'threw a value that is not an Error'
  throw new Error(`${label}: ${hook}: ${message}`, { cause: error })
}
