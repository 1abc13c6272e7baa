import assert from 'node:assert/strict'
import http2 from 'node:http2'
import { type TestContext, test } from 'node:test'
import { startGateway, type TestGateway } from '../../testing/gateway.js'
import { h2Origin, type OnStream } from '../../testing/h2-origin.js'

const { NGHTTP2_NO_ERROR, NGHTTP2_REFUSED_STREAM, NGHTTP2_INTERNAL_ERROR } = http2.constants

interface Parts {
  readonly gateway: TestGateway
  /** Bodies of the requests that the target has received. */
  readonly seen: string[]
}

/** A gateway with a target that echoes the request body, unless `spoil` handles the stream. */
async function before(
  t: TestContext,
  spoil: (stream: http2.ServerHttp2Stream, nth: number) => boolean,
  options: http2.ServerOptions = {},
): Promise<Parts> {
  const seen: string[] = []
  const answer: OnStream = (stream) => {
    let body = ''
    stream.on('data', (chunk: Buffer) => {
      body += chunk.toString()
    })
    stream.on('end', () => {
      if (spoil(stream, seen.push(body))) return
      stream.respond({ ':status': 200 })
      stream.end(body)
    })
  }
  const { port } = await h2Origin(t, answer, options)
  const upstream = {
    urls: [`http://127.0.0.1:${port}`],
    http2: { alpn: false, priorKnowledge: true },
  } as const
  return {
    gateway: await startGateway(t, { upstreams: [{ ...upstream, retry: { attempts: 1, budget: 1 } }] }),
    seen,
  }
}

async function post({ gateway }: Parts, body = 'once'): Promise<string> {
  const response = await fetch(gateway.url, { method: 'POST', body })
  const text = await response.text()
  return response.status === 200 ? text : `${response.status} ${response.headers.get('x-gw-error')}`
}

test('a stream that the target refused is sent again, whatever the method', async (t) => {
  const parts = await before(t, (stream, nth) => {
    if (nth === 1) stream.close(NGHTTP2_REFUSED_STREAM)
    return nth === 1
  })
  assert.equal(await post(parts), 'once')
  assert.deepEqual(parts.seen, ['once', 'once'])
})

test('it is sent again once', async (t) => {
  const parts = await before(t, (stream) => {
    stream.close(NGHTTP2_REFUSED_STREAM)
    return true
  })
  assert.equal(await post(parts), '502 GW_UPSTREAM_RESET')
  assert.equal(parts.seen.length, 2)
})

test('a stream that the target reset for another reason may have been processed', async (t) => {
  const parts = await before(t, (stream) => {
    stream.close(NGHTTP2_INTERNAL_ERROR)
    return true
  })
  assert.equal(await post(parts), '502 GW_UPSTREAM_RESET')
  assert.equal(parts.seen.length, 1)
})

test('streams beyond a GOAWAY are sent again over another connection', async (t) => {
  const parts = await before(t, (stream, nth) => {
    if (nth !== 2) return false
    stream.session!.goaway(NGHTTP2_NO_ERROR, 1)
    return true
  })
  assert.equal(await post(parts, 'first'), 'first')
  assert.equal(await post(parts, 'second'), 'second')
  assert.deepEqual(parts.seen, ['first', 'second', 'second'])
})

test('a burst that arrives before the settings of the target is served though it allows few streams', async (t) => {
  const parts = await before(t, () => false, { settings: { maxConcurrentStreams: 2 } })
  const bodies = Array.from({ length: 30 }, (_, i) => String(i))
  assert.deepEqual(await Promise.all(bodies.map((body) => post(parts, body))), bodies)
})
