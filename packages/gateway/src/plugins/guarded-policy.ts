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

/** What `compile` of a plugin may wait for. */
const COMPILE_MS = 10_000

/** Hears what code of a plugin is about to run; what it returns is waited for. */
export type Announce = (what: string) => Promise<void>

const HOOKS = ['onRequest', 'onRequestBody', 'onAttempt', 'onResponse', 'onResponseBody'] as const
type HookName = (typeof HOOKS)[number]

/**
 * A policy of a plugin that does no harm by mistake: what it throws names it, and what it returns or leaves in an exchange
 * is checked before anybody relies on it. A failure is that of a policy: its route refuses, the others do not notice.
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
    throw new Error(`${label}: its secretNames returned no list of texts`)
  }
}

async function inTime<T>(made: T | Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`its compile did not end within ${COMPILE_MS / 1000} s`)
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
      `its compile returned ${value === undefined ? 'undefined' : typeof value}; return hooks or null`,
    )
  const step = value as Step
  const wrapped: Record<string, unknown> = { name: String(step.name ?? guard.plugin) }
  for (const hook of HOOKS) if (step[hook] !== undefined) wrapped[hook] = guardedHook(step, hook, guard)
  if (step.decidesOnBody === true) wrapped['decidesOnBody'] = true
  if (step.onRejected !== undefined) wrapped['onRejected'] = guardedRejection(step, guard)
  if (step.onFinish !== undefined) wrapped['onFinish'] = guardedFinish(step, guard)
  if (Object.keys(wrapped).every((key) => key === 'name' || key === 'decidesOnBody'))
    throw new Error(
      `its compile returned no hook; name one of ${HOOKS.join(', ')}, onRejected, onFinish, or return null`,
    )
  return wrapped as unknown as Step
}

function guardedHook(step: Step, name: HookName, guard: Guard): (x: Exchange, body: Uint8Array) => Eventual {
  const { label, marks } = guard
  if (typeof step[name] !== 'function') throw new Error(`its ${name} is no function`)
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

/** True for what `await` would wait for: promises of this realm, of another one, or of a library. */
function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === 'object' || typeof value === 'function') &&
    value !== null &&
    (value instanceof Promise || typeof (value as { then?: unknown }).then === 'function')
  )
}

function guardedRejection(step: Step, { label, marks }: Guard): NonNullable<Step['onRejected']> {
  if (typeof step.onRejected !== 'function') throw new Error('its onRejected is no function')
  const hook = step.onRejected.bind(step)
  const mark = marks.markOf(`${label}: onRejected`)
  return (x, answer) => {
    marks.begin(mark)
    try {
      const before = resettableValues(x)
      const isRenewed: unknown = hook(x, { status: answer.status, fields: answer.fields.slice() })
      checkExchange(x, before)
      return isRenewed === true
    } finally {
      marks.end()
    }
  }
}

function guardedFinish(step: Step, { label, marks }: Guard): (x: Exchange) => void {
  if (typeof step.onFinish !== 'function') throw new Error('its onFinish is no function')
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

/** Errors with a code of their own, such as of a body that cannot be read, keep it; all others learn whose they are. */
function fail(error: unknown, label: string, hook: string): never {
  if (error instanceof Error && 'code' in error && 'detail' in error) throw error
  const message = error instanceof Error ? error.message : 'it threw something that is no Error'
  throw new Error(`${label}: ${hook}: ${message}`, { cause: error })
}
