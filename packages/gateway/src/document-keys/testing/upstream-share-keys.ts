import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { until } from '../../testing/gateway.js'
import { httpOrigin } from '../../testing/origin.js'
import { bodies, type Effect, named, serve } from './key-tests.js'

const SECRET = 'sixteen characters'

/** Starts a gateway with two sticky targets and returns the cookie that it sets and the target that responded. */
async function session(t: TestContext, more: object): Promise<{ url: string; field: string; name: string }> {
  const targets = [(await named(t, 'a')).url, (await named(t, 'b')).url]
  const gateway = await serve(t, { upstream: { targets, sticky: { secret: SECRET, ...more } } })
  const response = await fetch(gateway.url)
  return { url: gateway.url, field: response.headers.get('set-cookie') ?? '', name: await response.text() }
}

/** Returns a test of a cookie attribute: its text when set, and the text by default. */
const attribute =
  (written: object, expected: RegExp, plain: RegExp): Effect =>
  async (t) => {
    assert.match((await session(t, written)).field, expected)
    assert.match((await session(t, {})).field, plain)
  }

/** Tests of the keys of `sticky`. */
export const sessionKeys: Readonly<Record<string, Effect>> = {
  'sticky.cookie': async (t) => {
    const { url, field, name } = await session(t, { cookie: 'sid' })
    assert.match(field, /^sid=[\w-]{12}\.[\w-]{43};/)
    const cookie = field.split(';')[0]!
    assert.deepEqual(new Set(await bodies(url, 6, { cookie })), new Set([name]))
    const again = await fetch(url, { headers: { cookie } })
    assert.equal(again.headers.get('set-cookie'), null)
    assert.equal(new Set(await bodies(url, 6)).size, 2)
  },
  'sticky.secret': async (t) => {
    const mine = await session(t, {})
    const other = await session(t, { secret: 'another one of sixteen' })
    const cookie = other.field.split(';')[0]!
    assert.equal(new Set(await bodies(mine.url, 6, { cookie })).size, 2)
    const response = await fetch(mine.url, { headers: { cookie } })
    assert.match(response.headers.get('set-cookie') ?? '', /^gw-target=/)
    assert.doesNotMatch(mine.field, /127|[\d.]+:\d/)
  },
  'sticky.ttl': attribute({ ttl: '1h' }, /; Max-Age=3600;/, /^(?!.*Max-Age)/),
  'sticky.path': attribute({ path: '/shop' }, /; Path=\/shop;/, /; Path=\/;/),
  'sticky.httpOnly': attribute({ httpOnly: false }, /^(?!.*HttpOnly)/, /; HttpOnly/),
  'sticky.secure': attribute({ secure: false }, /^(?!.*Secure)/, /; Secure/),
  'sticky.sameSite': attribute({ sameSite: 'strict' }, /; SameSite=Strict$/, /; SameSite=Lax$/),
}

/**
 * Starts a gateway in front of a primary and a canary that respond with their roles. The canary has its own status
 * and delay.
 */
async function canaried(t: TestContext, canary: object, status = 200, delayMs = 0): Promise<string> {
  const primary = await named(t, 'primary')
  const other = await httpOrigin(t, (_, res) => {
    setTimeout(() => res.writeHead(status).end('canary'), delayMs)
  })
  const targets = [primary.url, { url: other.url, role: 'canary' }]
  return (await serve(t, { upstream: { targets, canary } })).url
}

/** Returns how many of `count` users reach the canary. */
async function usersAtCanary(url: string, count: number): Promise<number> {
  let sum = 0
  for (let i = 0; i < count; i++) {
    const [first, again] = await bodies(url, 2, { 'x-user': `user ${i}` })
    assert.equal(first, again)
    if (first === 'canary') sum++
  }
  return sum
}

const FAULTY = { percent: '50%', key: 'header:x-user' }

/** Sends users to both sides of a canary. Returns how many of ten users reach the canary afterwards. */
async function afterAbort(url: string): Promise<number> {
  for (let i = 0; i < 40; i++) await bodies(url, 2, { 'x-user': `user ${i}` })
  return await usersAtCanary(url, 10)
}

/** Tests of the keys of `canary`. */
export const canaryKeys: Readonly<Record<string, Effect>> = {
  'canary.percent': async (t) => {
    const url = await canaried(t, { percent: '30%', key: 'header:x-user' })
    const count = await usersAtCanary(url, 60)
    assert.ok(count > 6 && count < 30, `${count} of 60 users are at the canary`)
  },
  'canary.key': async (t) => {
    // All requests come from one address.
    assert.equal((await usersAtCanary(await canaried(t, { percent: '50%' }), 20)) % 20, 0)
    const count = await usersAtCanary(await canaried(t, { percent: '50%', key: 'header:x-user' }), 20)
    assert.ok(count > 0 && count < 20)
  },
  'canary.match': async (t) => {
    const url = await canaried(t, { match: ['header:x-canary', 'cookie:side=new'] })
    assert.deepEqual(await bodies(url, 1), ['primary'])
    assert.deepEqual(await bodies(url, 1, { 'x-canary': '' }), ['canary'])
    assert.deepEqual(await bodies(url, 1, { cookie: 'side=new' }), ['canary'])
    assert.deepEqual(await bodies(url, 1, { cookie: 'side=old' }), ['primary'])
  },
  'canary.abort.errors': async (t) => {
    for (const [errors, isLeft] of [
      ['10%', true],
      ['100%', false],
    ] as const) {
      const url = await canaried(t, { ...FAULTY, abort: { errors, minRequests: 5 } }, 500)
      assert.equal((await afterAbort(url)) === 0, isLeft)
    }
  },
  'canary.abort.slower': async (t) => {
    for (const [slower, isLeft] of [
      ['10ms', true],
      ['1m', false],
    ] as const) {
      const url = await canaried(t, { ...FAULTY, abort: { slower, minRequests: 5 } }, 200, 60)
      assert.equal((await afterAbort(url)) === 0, isLeft)
    }
  },
  'canary.abort.minRequests': async (t) => {
    const url = await canaried(t, { ...FAULTY, abort: { errors: '10%', minRequests: 1000 } }, 500)
    assert.ok((await afterAbort(url)) > 0)
  },
  'canary.abort.window': async (t) => {
    // Responses older than the window do not count, so there are never enough of them.
    const abort = { errors: '10%', minRequests: 5, window: '1s' }
    const url = await canaried(t, { ...FAULTY, match: ['header:x-canary'], abort }, 500)
    for (let i = 0; i < 6; i++) {
      await bodies(url, 1, { 'x-user': `user ${i}`, 'x-canary': '1' })
      await new Promise((resolve) => setTimeout(resolve, 250))
    }
    assert.deepEqual(await bodies(url, 1, { 'x-canary': '1' }), ['canary'])
  },
  'canary.abort.cooldown': async (t) => {
    const abort = { errors: '10%', minRequests: 5, cooldown: '1s' }
    const url = await canaried(t, { ...FAULTY, abort }, 500)
    const sideOf = async (user: number): Promise<string> =>
      (await bodies(url, 1, { 'x-user': `user ${user}` }))[0]!
    const sides = [await sideOf(0), await sideOf(1)]
    while (!sides.includes('canary') || !sides.includes('primary')) sides.push(await sideOf(sides.length))
    const [atCanary, atPrimary] = [sides.indexOf('canary'), sides.indexOf('primary')]
    // The canary is aborted again as soon as both sides have enough responses.
    for (const side of ['primary', 'canary', 'primary'])
      await until(async () => (await sideOf(atPrimary)) === 'primary' && (await sideOf(atCanary)) === side)
  },
}

/** A gateway with a mirror, and what it did. */
interface Mirrored {
  readonly url: string
  /** Paths of the mirrored requests. */
  readonly paths: string[]
  readonly differences: () => object[]
  readonly skipped: () => number
  /** True while a request to a target is in flight. */
  readonly isActive: () => boolean
}

/** Starts a gateway with a mirror that responds as the test says. */
async function mirrored(
  t: TestContext,
  mirror: object,
  answer: (res: ServerResponse) => void = (res) => void res.end('{}'),
): Promise<Mirrored> {
  const paths: string[] = []
  const main = await httpOrigin(t, (_, res) => {
    res.writeHead(200, { 'content-type': 'application/json', 'x-side': 'main' })
    res.end('{"a":{"b":[1,2]},"same":true}')
  })
  const shadow = await httpOrigin(t, (req, res) => {
    paths.push(req.url!)
    req.resume().on('end', () => answer(res))
  })
  const targets = [main.url, { url: shadow.url, role: 'mirror' }]
  const { url, events, plane } = await serve(t, { upstream: { targets, mirror } })
  const numberOf = (wanted: string): number => plane.samples().find(({ name }) => name === wanted)?.value ?? 0
  return {
    url,
    paths,
    differences: () =>
      events.filter(({ event }) => event === 'mirror_difference').map(({ fields }) => fields),
    skipped: () => numberOf('gw_upstream_mirror_skipped_total'),
    isActive: () => plane.samples().some(({ name, value }) => name === 'gw_upstream_active' && value > 0),
  }
}

/** Returns the reported difference of one request. */
async function differenceWith(t: TestContext, compare: object): Promise<Record<string, unknown> | undefined> {
  const gateway = await mirrored(t, { compare }, (res) => {
    res.writeHead(200, { 'content-type': 'application/json', 'x-side': 'mirror' })
    res.end('{"a":{"b":[1,3]},"same":true,"more":1}')
  })
  await bodies(gateway.url, 1)
  await until(() => gateway.paths.length === 1 && !gateway.isActive())
  return gateway.differences()[0] as Record<string, unknown> | undefined
}

/** Tests of the keys of `mirror`. */
export const mirrorKeys: Readonly<Record<string, Effect>> = {
  'mirror.percent': async (t) => {
    const { url, paths } = await mirrored(t, { percent: '25%' })
    await bodies(url, 8)
    await until(() => paths.length === 2)
  },
  'mirror.concurrency': async (t) => {
    const { url, paths, skipped } = await mirrored(t, { concurrency: 2 }, () => {})
    await bodies(url, 5)
    await until(() => paths.length === 2)
    assert.equal(skipped(), 3)
  },
  'mirror.maxBodyBytes': async (t) => {
    const { url, paths, skipped } = await mirrored(t, { maxBodyBytes: '4b' })
    for (const body of ['four', 'fives'])
      await (await fetch(`${url}/${body}`, { method: 'POST', body })).text()
    await until(() => paths.length === 1)
    assert.deepEqual(paths, ['/four'])
    assert.equal(skipped(), 1)
  },
  'mirror.timeout': async (t) => {
    const { url, paths, skipped } = await mirrored(t, { concurrency: 1, timeout: '20ms' }, () => {})
    await bodies(url, 1)
    await until(async () => (await bodies(url, 1)).length === 1 && paths.length > 1)
    assert.ok(skipped() >= 0)
  },
  'mirror.compare.headers': async (t) => {
    const found = await differenceWith(t, { headers: ['x-side', 'content-type'], json: false })
    assert.deepEqual([found?.['status'], found?.['headers'], found?.['body']], [null, ['x-side'], []])
  },
  'mirror.compare.json': async (t) => {
    const found = await differenceWith(t, {})
    assert.deepEqual(found?.['body'], ['/a/b/1', '/more'])
    assert.equal(await differenceWith(t, { json: false }), undefined)
  },
  'mirror.compare.maxBodyBytes': async (t) => {
    assert.equal(await differenceWith(t, { maxBodyBytes: '16b' }), undefined)
  },
}
