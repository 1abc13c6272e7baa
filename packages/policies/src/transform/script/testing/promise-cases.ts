import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { PolicyFailure, Reply, Step } from '@sluice/core'
import type { EngineName } from '../../../engines/script/engine.js'
import { exchange, testEnv } from '../../../testing.js'
import { script } from '../policy.js'

/** Hooks that refuse the request in an unawaited promise. */
const REFUSALS: Readonly<Record<string, string>> = {
  'an async function': `
    async function check(ctx) { await null; ctx.respond(401) }
    export function onRequest(ctx) { check(ctx) }`,
  'then without return': `
    export function onRequest(ctx) { Promise.resolve().then(() => ctx.respond(401)) }`,
  'a loop of callbacks': `
    export function onRequest(ctx) { [1].forEach(async () => { await null; await null; ctx.respond(401) }) }`,
  'void in an async hook': `
    export async function onRequest(ctx) { void (async () => { await null; await null; await null; ctx.respond(401) })() }`,
  'an async generator': `
    async function* check(ctx) { await null; yield ctx.respond(401) }
    export function onRequest(ctx) { check(ctx).next() }`,
}

/** Hooks that fail in an unawaited promise. */
const FAILURES: Readonly<Record<string, string>> = {
  'an async function that throws at once': `
    async function check() { throw new Error('no such claim') }
    export function onRequest() { check() }`,
  'an async function that throws later': `
    async function check() { await null; throw new Error('no such claim') }
    export function onRequest() { check() }`,
  'a callback that throws': `
    export function onRequest() { Promise.resolve().then(() => { throw new Error('no such claim') }) }`,
  'Promise.reject': `
    export function onRequest() { Promise.reject(new Error('no such claim')) }`,
  'an executor that throws': `
    export async function onRequest() { new Promise(() => { throw new Error('no such claim') }) }`,
  'beside one that is awaited': `
    export async function onRequest() {
      const lost = (async () => { await null; throw new Error('no such claim') })()
      await Promise.resolve()
    }`,
  'after one that is handled': `
    export function onRequest() {
      Promise.reject(new Error('handled')).catch(() => {})
      Promise.reject(new Error('no such claim'))
    }`,
  'a thenable that rejects': `
    export function onRequest() { return { then(keep, refuse) { refuse(new Error('no such claim')) } } }`,
  'a thenable that rejects later': `
    export function onRequest() {
      return { then(keep, refuse) { Promise.resolve().then(() => refuse(new Error('no such claim'))) } }
    }`,
  'a thenable that throws': `
    export function onRequest() { return { then() { throw new Error('no such claim') } } }`,
  'a function that is a thenable': `
    export function onRequest() { return Object.assign(() => {}, { then: (keep, refuse) => refuse(new Error('no such claim')) }) }`,
  'a thenable of a thenable': `
    const refusing = { then(keep, refuse) { refuse(new Error('no such claim')) } }
    export function onRequest() { return { then(keep) { keep(refusing) } } }`,
  'an async hook that returns a thenable': `
    export async function onRequest() { return { then(keep, refuse) { refuse(new Error('no such claim')) } } }`,
  'a result whose then cannot be read': `
    export function onRequest() { return { get then() { throw new Error('no such claim') } } }`,
  'a proxy that cannot be read': `
    export function onRequest() { return new Proxy({}, { get() { throw new Error('no such claim') } }) }`,
  'a proxy of a promise': `
    const handler = { get: (target, key) => { const value = target[key]; return typeof value === 'function' ? value.bind(target) : value } }
    export function onRequest() { return new Proxy(Promise.reject(new Error('no such claim')), handler) }`,
  'a promise that forgot its prototype': `
    export function onRequest() { return Object.setPrototypeOf((async () => { throw new Error('no such claim') })(), null) }`,
  finally: `
    export function onRequest(ctx) { Promise.reject(new Error('no such claim')).finally(() => {}) }`,
}

/** Hooks whose result never settles. */
const UNSETTLED: Readonly<Record<string, string>> = {
  'a promise': 'export function onRequest() { return new Promise(() => {}) }',
  'a thenable': 'export function onRequest() { return { then() {} } }',
  'an async hook': 'export async function onRequest() { await { then() {} } }',
}

/** Hooks that handle rejections, even late. */
const HANDLED: Readonly<Record<string, string>> = {
  'try around await': `
    const check = async () => { throw new Error('x') }
    export async function onRequest(ctx) { try { await check() } catch { ctx.vars.a = '1' } }`,
  'catch that is added later': `
    export async function onRequest(ctx) {
      const lost = Promise.reject(new Error('x'))
      await null
      await null
      lost.catch(() => { ctx.vars.a = '1' })
    }`,
  'Promise.allSettled': `
    export async function onRequest(ctx) {
      await Promise.allSettled([Promise.reject(new Error('x')), Promise.reject(new Error('y'))])
      ctx.vars.a = '1'
    }`,
  'a thenable that succeeds': `
    export function onRequest(ctx) { return { then(keep) { ctx.vars.a = '1'; keep() } } }`,
  'a result that is no thenable': `
    export function onRequest(ctx) { ctx.vars.a = '1'; return { then: 1 } }`,
  'many that are handled': `
    export async function onRequest(ctx) {
      for (let i = 0; i < 100; i++) Promise.reject(new Error('x')).catch(() => {})
      ctx.vars.a = '1'
    }`,
}

async function compiled(t: TestContext, inline: string, engine: EngineName): Promise<Step> {
  const env = testEnv()
  t.after(() => env.close())
  // None of them tests time limits, so a long limit tolerates a busy machine.
  const limits = { time: '1s' }
  return (await script.compile({ script: { inline }, engine, limits }, env)) as Step
}

/** Runs all cases in an engine. */
export async function callWaitsForPromises(t: TestContext, engine: EngineName): Promise<void> {
  for (const [name, source] of Object.entries(REFUSALS)) {
    const step = await compiled(t, source, engine)
    const reply: Reply | null | undefined = await step.onRequest?.(exchange())
    assert.equal(reply?.status, 401, name)
  }
  for (const [name, source] of Object.entries(FAILURES)) {
    const step = await compiled(t, source, engine)
    for (let i = 0; i < 3; i++) {
      await assert.rejects(
        async () => step.onRequest?.(exchange()),
        (error: PolicyFailure) => error.code === 'GW_SCRIPT_ERROR' && /no such claim/.test(error.message),
        name,
      )
    }
  }
  for (const [name, source] of Object.entries(UNSETTLED)) {
    const step = await compiled(t, source, engine)
    await assert.rejects(
      async () => step.onRequest?.(exchange()),
      (error: PolicyFailure) => error.code === 'GW_SCRIPT_ERROR' && /never settles/.test(error.message),
      name,
    )
  }
  for (const [name, source] of Object.entries(HANDLED)) {
    const x = exchange()
    assert.equal(await (await compiled(t, source, engine)).onRequest?.(x), null, name)
    assert.equal(x.vars?.get('a'), '1', name)
  }
  await assert.rejects(
    compiled(t, `Promise.reject(new Error('lost at load')); export function onRequest() {}`, engine),
    /lost at load/,
  )
}
