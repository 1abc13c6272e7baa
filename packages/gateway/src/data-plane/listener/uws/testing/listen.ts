import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { closedPort } from '../../../../testing/origin.js'
import { CachedClock } from '../../../lib/cached-clock.js'
import { RequestIds } from '../../../lib/request-id.js'
import type { ClientStream, Gate, ListenerSettings } from '../../listener.js'
import { openUwsListener } from '../listener.js'

const SETTINGS: ListenerSettings = {
  trusted: null,
  forwardedHeader: 'x-forwarded-for',
  health: false,
  paths: 'canonical',
  headerBytes: 16_384,
  headers: 100,
  urlBytes: 8192,
  bodyBytes: 1_000_000_000,
  bodyBuffer: 65_536,
  connections: 100,
  connectionsPerClient: 100,
  keepAliveMs: 75_000,
  headTimeoutMs: 10_000,
  bodyIdleMs: 5000,
  minBodyRate: 240,
  minReadRate: 240,
}

/** A port whose requests are all answered by this function. */
export async function listen(t: TestContext, answer: (client: ClientStream) => void): Promise<number> {
  const faults: unknown[] = []
  const gate: Gate = { accept: (_, client) => answer(client), refuse: (_, client) => client.abort() }
  const listener = await openUwsListener({
    host: '127.0.0.1',
    port: await closedPort(),
    tls: null,
    settings: SETTINGS,
    gate,
    ids: new RequestIds(),
    clock: new CachedClock(),
    onFault: (error) => faults.push(error),
    onTurnedAway: () => {},
  })
  t.after(() => {
    listener.terminate()
    assert.deepEqual(faults, [])
  })
  return listener.port
}
