import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { RequestIds } from '@sluice/core'
import { CachedClock } from '../../../lib/cached-clock.js'
import { closedPort } from '../../../testing/origin.js'
import type { ClientStream, RequestHandler } from '../../listener.js'
import { SETTINGS } from '../../testing/settings.js'
import { createUwsListener } from '../listener.js'

/** Opens a port whose requests are all answered by the given function. */
export async function listen(t: TestContext, answer: (client: ClientStream) => void): Promise<number> {
  const faults: unknown[] = []
  const handler: RequestHandler = {
    accept: (_, client) => answer(client),
    refuse: (_, client) => client.abort(),
  }
  const listener = createUwsListener({
    host: '127.0.0.1',
    port: await closedPort(),
    tls: null,
    settings: SETTINGS,
    handler,
    ids: new RequestIds(),
    clock: new CachedClock(),
    onFault: (error) => faults.push(error),
    onRejected: () => {},
  })
  await listener.open()
  t.after(() => {
    listener.terminate()
    assert.deepEqual(faults, [])
  })
  return listener.port
}
