import {
  type CompileEnv,
  definePolicy,
  type Eventual,
  type Exchange,
  type Outcome,
  type Slot,
  type Step,
} from '@sluice/core'
import { compileLookup } from './lookup.js'
import { compilePopulate } from './populate.js'
import { type CachePolicyConfig, cachePolicySchema } from './schema.js'
import { CacheUse } from './use.js'

/** Reads, writes or deletes values of your choice in a shared cache. */
export const cache = definePolicy({
  name: 'cache',
  summary: 'Stores values of your choice and reads them later: lookup, populate, invalidate.',
  schema: cachePolicySchema,
  cost: 'io',
  isPerUse: true,
  compile(config, env, identity) {
    const use = new CacheUse(config, env, identity)
    const { readsBody, run } = operationOf(config, use, env)
    return { name: 'cache', ...hooksOf({ use, env, readsBody, run }) }
  },
})

type Run = (x: Exchange, key: string | null, body: Uint8Array | null) => Eventual

function operationOf(
  config: CachePolicyConfig,
  use: CacheUse,
  env: CompileEnv,
): { readonly readsBody: boolean; readonly run: Run } {
  switch (config.operation) {
    case 'lookup':
      if (use.key === null) throw new Error("'lookup' needs 'key'")
      return { readsBody: false, run: compileLookup(config, use) }
    case 'populate':
      return compilePopulate(config, use, env)
    case 'invalidate':
      return { readsBody: false, run: compileInvalidate(use) }
  }
}

function compileInvalidate(use: CacheUse): Run {
  const { store, space } = use
  const forget = (key: string | null): Promise<void> | null => {
    if (use.key === null) return store.deleteAll(space)
    return key === null ? null : store.delete(space, key)
  }
  return (_, key) =>
    forget(key)?.then(
      (): Outcome => {
        use.count('forgotten')
        return null
      },
      (error: unknown) => use.onDown(error),
    ) ?? null
}

interface Operation {
  readonly use: CacheUse
  readonly env: CompileEnv
  /** True if the operation reads the body of its message. */
  readonly readsBody: boolean
  readonly run: Run
}

/** Returns the hooks at which the message, and everything that the key reads, is available. */
function hooksOf({ use, env, readsBody, run }: Operation): Omit<Step, 'name'> {
  const { side, key } = use
  const keyOf = (x: Exchange): string | null => key?.read(x) ?? null
  if (side === 'request') {
    if (readsBody || key?.readsBody === true) return { onRequestBody: (x, body) => run(x, keyOf(x), body) }
    return { onRequest: (x) => run(x, keyOf(x), null) }
  }
  const early = key?.readsBody === true ? env.slot<string | null>() : null
  if (early !== null && key?.readsResponse === true)
    throw new Error('the key reads both the request body and the response; use only one of them')
  const onSide = (x: Exchange, body: Uint8Array | null): Eventual => {
    if (!use.appliesTo(x)) return null
    const known = early?.get(x)
    return run(x, known === undefined ? keyOf(x) : known, body)
  }
  return {
    // The key is computed now, because later policies may replace the body.
    ...(early !== null && { onRequestBody: (x: Exchange) => keepKey(x, early, keyOf(x)) }),
    ...(readsBody ? { onResponseBody: onSide } : { onResponse: (x: Exchange) => onSide(x, null) }),
  }
}

function keepKey(x: Exchange, slot: Slot<string | null>, key: string | null): null {
  slot.set(x, key)
  return null
}
