import assert from 'node:assert/strict'
import http from 'node:http'
import http2 from 'node:http2'
import { type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import type { BodyFilter, Exchange, Filtered, Step } from '@sluice/core'
import { FAKE_POLICIES, fakeCatalog } from '../testing/fake-policy.js'
import { type PlanOverrides, startGateway, until } from '../testing/gateway.js'
import { httpOrigin, rawOrigin } from '../testing/origin.js'
import { connectRaw } from '../testing/raw-connection.js'

interface Seen {
  begins: number
  lengths: number[]
  ends: number
  closes: number
  bytes: number[]
  errors: string[]
}

/** Calls that the filters and the record have seen. */
function nothingSeen(): Seen {
  return { begins: 0, lengths: [], ends: 0, closes: 0, bytes: [], errors: [] }
}

/** A filter that passes everything on, except for what a test overrides. */
function filterOf(seen: Seen, different: Partial<BodyFilter> = {}): BodyFilter {
  return {
    name: 'p',
    keepsLength: false,
    write: (piece) => piece,
    end: () => null,
    ...different,
    begin(x, length) {
      seen.begins++
      return different.begin === undefined ? true : different.begin(x, length)
    },
    close() {
      seen.closes++
      different.close?.()
    },
  }
}

/** Writes every byte twice, announces it in a field, and appends a last line. */
function doubling(seen: Seen): BodyFilter {
  return filterOf(seen, {
    begin(x, length) {
      seen.lengths.push(length)
      x.responseHeaders.push('x-doubled', 'yes')
      return true
    },
    write: (piece) => Buffer.from(piece).reduce<Buffer>(twice, Buffer.alloc(0)),
    end() {
      seen.ends++
      return Buffer.from('.')
    },
  })
}

function twice(text: Buffer, byte: number): Buffer {
  return Buffer.concat([text, Buffer.of(byte, byte)])
}

/** The same, asynchronously. */
function late(filter: BodyFilter): BodyFilter {
  const lately = async (make: () => Filtered): Promise<Uint8Array | null> => {
    await turn()
    return make()
  }
  return {
    ...filter,
    write(piece) {
      const copy = Uint8Array.from(piece)
      return lately(() => filter.write(copy))
    },
    end: () => lately(() => filter.end()),
  }
}

/** The second half of the body is sent once the first has reached the filter. */
function inPieces(seen: Seen): http.RequestListener {
  return (req, res) => {
    if (req.url === '/none') res.writeHead(204).end()
    else if (req.url === '/cached') res.writeHead(304).end()
    else if (req.url === '/empty') res.end()
    else if (req.url === '/whole') res.writeHead(200, { 'content-length': 3 }).end('abc')
    else {
      if (req.url === '/length') res.setHeader('content-length', 3)
      res.write('a')
      const before = seen.begins
      void until(() => seen.begins > before).then(() => res.end('bc'))
    }
  }
}

interface Served {
  readonly t: TestContext
  readonly seen: Seen
  readonly step: Omit<Step, 'name'>
  readonly overrides?: PlanOverrides
}

async function serve({ t, seen, step, overrides }: Served) {
  const origin = await httpOrigin(t, inPieces(seen))
  const onFinish = (x: Exchange): void => {
    seen.bytes.push(x.responseBytes)
    if (x.errorCode !== '') seen.errors.push(`${x.errorCode} ${x.errorPolicy}`)
  }
  const routes = [{ id: 'all', policies: FAKE_POLICIES }]
  const plan = { upstreams: [{ urls: [origin.url] }], routes, ...overrides }
  return startGateway(t, plan, { catalog: fakeCatalog({ ...step, onFinish }) })
}

/** A step that adds filters to every response. */
function adding(...make: (() => BodyFilter)[]): Omit<Step, 'name'> {
  return {
    onResponse(x) {
      for (const filter of make) x.filterResponse(filter())
      return null
    },
  }
}

for (const engine of ['uws', 'node'] as const) {
  for (const [pace, paced] of [
    ['at once', (filter: BodyFilter) => filter],
    ['late', late],
  ] as const) {
    test(`${engine}: a filter that answers ${pace} changes a body, however it is delivered`, async (t) => {
      const seen = nothingSeen()
      const step = adding(() => paced(doubling(seen)))
      const overrides = { listener: { engine } }
      const { url } = await serve({ t, seen, step, overrides })
      const cases = [
        ['/chunks', 'aabbcc.', null, -1],
        ['/length', 'aabbcc.', null, 3],
        ['/whole', 'aabbcc.', '7', 3],
        ['/empty', '.', '1', 0],
      ] as const
      for (const [path, expected, length, announced] of cases) {
        const answer = await fetch(url + path)
        assert.equal(await answer.text(), expected, path)
        assert.equal(answer.headers.get('content-length'), length, path)
        assert.equal(answer.headers.get('x-doubled'), 'yes')
        assert.equal(seen.lengths.pop(), announced, path)
      }
      await until(() => seen.closes === 4)
      assert.deepEqual(seen.bytes, [7, 7, 7, 1])
      assert.equal(seen.ends, 4)
    })

    test(`${engine}: a filter that answers ${pace} changes collected bodies and the gateway's own replies`, async (t) => {
      const seen = nothingSeen()
      const step: Omit<Step, 'name'> = {
        ...adding(() => paced(doubling(seen))),
        onResponseBody(x) {
          x.responseBody = Buffer.from('xyz')
          return null
        },
      }
      const overrides = { listener: { engine } }
      const { url } = await serve({ t, seen, step, overrides })
      const action = { kind: 'respond' as const, status: 200, headers: [], body: 'hello' }
      const routes = [{ id: 'all', policies: FAKE_POLICIES, action, timeouts: null }]
      const own = await serve({ t, seen, step, overrides: { ...overrides, routes } })
      for (const place of [url, own.url]) {
        const answer = await fetch(`${place}/whole`)
        assert.equal(await answer.text(), 'xxyyzz.')
        assert.equal(answer.headers.get('content-length'), '7')
      }
      assert.deepEqual(seen.lengths, [3, 3])
      assert.equal(seen.closes, 2)
      assert.deepEqual(seen.bytes, [7, 7])
    })
  }

  test(`${engine}: without a body only the fields are changed, and no length is announced that may be wrong`, async (t) => {
    const seen = nothingSeen()
    const { url } = await serve({
      t,
      seen,
      step: adding(() => doubling(seen)),
      overrides: { listener: { engine } },
    })
    for (const [path, method] of [
      ['/none', 'GET'],
      ['/cached', 'GET'],
      ['/whole', 'HEAD'],
    ] as const) {
      const answer = await fetch(url + path, { method })
      assert.equal(answer.headers.get('x-doubled'), 'yes', path)
      assert.equal(answer.headers.get('content-length'), null, path)
    }
    assert.deepEqual([seen.ends, seen.closes], [0, 3])
  })

  test(`${engine}: a filter that only observes keeps Content-Length; one that declines is closed at once`, async (t) => {
    const seen = nothingSeen()
    const texts: string[] = []
    const write = (piece: Uint8Array): Uint8Array => {
      texts.push(Buffer.from(piece).toString())
      return piece
    }
    const step = adding(
      () => filterOf(seen, { keepsLength: true, write }),
      () => filterOf(seen, { begin: () => false, write: () => assert.fail() }),
    )
    const { url } = await serve({ t, seen, step, overrides: { listener: { engine } } })
    for (const path of ['/length', '/whole']) {
      const answer = await fetch(url + path)
      assert.equal(answer.headers.get('content-length'), '3')
      assert.equal(await answer.text(), 'abc')
    }
    const head = await fetch(`${url}/whole`, { method: 'HEAD' })
    assert.equal(head.headers.get('content-length'), '3')
    assert.equal(texts.join(''), 'abcabc')
    assert.deepEqual([seen.closes, seen.bytes], [6, [3, 3, 0]])
  })

  test(`${engine}: filters run in order, each on the output of the previous one`, async (t) => {
    const seen = nothingSeen()
    const dashing = (): BodyFilter =>
      filterOf(seen, { write: (piece) => Buffer.from(`-${Buffer.from(piece)}`), end: () => Buffer.from('!') })
    const step = adding(dashing, () => late(doubling(seen)), dashing)
    const { url } = await serve({ t, seen, step, overrides: { listener: { engine } } })
    assert.equal(await (await fetch(`${url}/whole`)).text(), '---aabbcc-!!-.!')
  })

  test(`${engine}: a failing filter leads to 500 before the response has started, and then to a cut`, async (t) => {
    const seen = nothingSeen()
    const boom = (): never => {
      throw new Error('boom')
    }
    let fault: Partial<BodyFilter> = {}
    const step = adding(() => filterOf(seen, fault))
    const { url, events } = await serve({ t, seen, step, overrides: { listener: { engine } } })
    const cases: [string, Partial<BodyFilter>, boolean][] = [
      ['/chunks', { begin: boom }, true],
      ['/whole', { write: boom }, true],
      ['/whole', { end: () => Promise.reject(new Error('boom')) }, true],
      ['/chunks', { write: boom }, false],
      ['/chunks', { write: () => Promise.reject(new Error('boom')) }, false],
      ['/chunks', { end: boom }, false],
      ['/length', { keepsLength: true, write: () => Buffer.from('too long') }, false],
    ]
    for (const [i, [path, different, isAnswered]] of cases.entries()) {
      let isFirst = true
      // The error in its place passes the response hooks as well.
      fault = {
        ...different,
        close: () => {
          fault = isFirst ? {} : fault
          isFirst = false
        },
      }
      const answer = await fetch(url + path).catch(() => null)
      if (isAnswered) {
        assert.equal(answer?.status, 500, `${path} ${i}`)
        assert.equal(answer?.headers.get('x-gw-error'), 'GW_POLICY_ERROR')
      } else await assert.rejects(async () => assert.equal(await answer!.text(), 'never'), TypeError)
    }
    await until(() => seen.errors.length === cases.length)
    assert.deepEqual([...new Set(seen.errors)], ['GW_POLICY_ERROR p'])
    assert.equal(events.filter(({ event }) => event === 'policy_failed').length, cases.length)
  })

  test(`${engine}: while a filter waits, so does the target, and the filter is not called until it has answered`, async (t) => {
    const seen = nothingSeen()
    const total = 24 * 1024 * 1024
    let isOpen = false
    let calls = 0
    let release = (): void => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const write = async (piece: Uint8Array): Promise<Uint8Array> => {
      assert.ok(!isOpen)
      isOpen = true
      const copy = Uint8Array.from(piece)
      calls++
      await held
      isOpen = false
      return copy
    }
    let sent = 0
    const origin = await rawOrigin(t, (socket) => {
      socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${total}\r\n\r\n`)
      const block = Buffer.alloc(64 * 1024)
      const go = (): void => {
        while (sent < total) {
          sent += block.length
          if (!socket.write(block)) return
        }
      }
      socket.on('drain', go)
      socket.once('data', go)
    })
    const overrides = {
      listener: { engine },
      upstreams: [{ urls: [origin.url], responseBufferBytes: 128 * 1024 }],
    }
    const { url } = await serve({ t, seen, step: adding(() => filterOf(seen, { write })), overrides })
    const asked = fetch(url)
    let before = -1
    await until(() => {
      const isStill = sent === before && sent > 0
      before = sent
      return isStill
    })
    assert.equal(calls, 1)
    assert.ok(sent < total, `${sent} bytes were taken`)
    release()
    assert.equal((await (await asked).arrayBuffer()).byteLength, total)
    await until(() => seen.closes === 1)
    assert.deepEqual(seen.bytes, [total])
  })

  test(`${engine}: a client that disconnects closes the filter, once, even while it waits`, async (t) => {
    const seen = nothingSeen()
    let isAsked = false
    const write = (): Filtered => {
      isAsked = true
      return new Promise<never>(() => {})
    }
    const step = adding(() => filterOf(seen, { write }))
    const { port } = await serve({ t, seen, step, overrides: { listener: { engine } } })
    const client = await connectRaw(t, port)
    client.send('GET /chunks HTTP/1.1\r\nHost: a\r\n\r\n')
    await until(() => isAsked)
    client.reset()
    await until(() => seen.bytes.length === 1)
    assert.deepEqual([seen.closes, seen.bytes], [1, [0]])
  })

  test(`${engine}: the last bytes of a filter reach a client that is slow`, async (t) => {
    const seen = nothingSeen()
    const last = Buffer.alloc(24 * 1024 * 1024, 'x')
    const step = adding(() => filterOf(seen, { end: () => last }))
    const { port } = await serve({ t, seen, step, overrides: { listener: { engine } } })
    const bytes = await new Promise<number>((resolve, reject) => {
      http.get({ port, path: '/chunks', agent: false }, (res) => {
        let size = 0
        res.on('data', (chunk: Buffer) => {
          size += chunk.length
        })
        res.on('end', () => resolve(size)).on('error', reject)
        res.pause()
        setImmediate(() => res.resume())
      })
    })
    assert.equal(bytes, last.length + 3)
    await until(() => seen.closes === 1)
    assert.deepEqual(seen.bytes, [last.length + 3])
  })
}

test('HTTP/2: a filter changes a body and keeps the trailers', async (t) => {
  const seen = nothingSeen()
  const origin = await rawOrigin(t, (socket) => {
    socket.once('data', () =>
      socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: 7\r\n\r\n'),
    )
  })
  const listener = { engine: 'node', http2: { alpn: true, priorKnowledge: true, streams: 100 } } as const
  for (const paced of [(filter: BodyFilter) => filter, late]) {
    const overrides = { listener, upstreams: [{ urls: [origin.url] }] }
    const { url } = await serve({ t, seen, step: adding(() => paced(doubling(seen))), overrides })
    const session = http2.connect(url)
    t.after(() => session.destroy())
    const stream = session.request({ ':path': '/' })
    let trailers: http2.IncomingHttpHeaders = {}
    stream.on('trailers', (fields) => {
      trailers = fields
    })
    let text = ''
    for await (const chunk of stream) text += String(chunk)
    assert.equal(text, 'aabbcc.')
    await until(() => trailers['x-sum'] === '7')
    session.close()
  }
})

test('a refusal after the hook that added a filter closes that filter; the refusal has its own', async (t) => {
  const seen = nothingSeen()
  let asked = 0
  const step: Omit<Step, 'name'> = {
    onResponse(x) {
      x.filterResponse(doubling(seen))
      if (asked++ > 0) return null
      throw new Error('later in the same hook')
    },
  }
  const { url } = await serve({ t, seen, step })
  assert.equal((await fetch(`${url}/whole`)).status, 500)
  await until(() => seen.bytes.length === 1)
  assert.equal(seen.closes, 1)
})
