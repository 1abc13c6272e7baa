import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import type { PolicyFailure, Reply, Step } from '@sluice/core'
import { exchange, testEnv } from '../../../testing.js'
import type { EngineName } from '../engine.js'
import { script } from '../policy.js'

/** Hooks that refuse the request by a promise that they neither return nor await. */
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

/** Hooks that fail in a promise that they neither return nor await. */
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
  finally: `
    export function onRequest(ctx) { Promise.reject(new Error('no such claim')).finally(() => {}) }`,
}

/** Hooks that handle what fails, be it late. */
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
  'many that are handled': `
    export async function onRequest(ctx) {
      for (let i = 0; i < 100; i++) Promise.reject(new Error('x')).catch(() => {})
      ctx.vars.a = '1'
    }`,
}

async function compiled(t: TestContext, inline: string, engine: EngineName): Promise<Step> {
  const env = testEnv()
  t.after(() => env.close())
  // None of them is about time, which a busy machine takes.
  const limits = { time: '1s' }
  return (await script.compile({ script: { inline }, engine, limits }, env)) as Step
}

/** Runs all of them in an engine. */
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
