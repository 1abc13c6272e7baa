import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import net from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { startGateway, until } from '../testing/gateway.js'

const MB = 1024 * 1024

/** Returns the number of threads of this process; works only on Linux. */
function threads(): number {
  return readdirSync('/proc/self/task').length
}

const isLinux = process.platform === 'linux'

test('a bundle whose listener cannot be opened leaves no log writer behind', {
  skip: !isLinux,
}, async (t) => {
  // Asynchronous, so that the thread pool exists before threads are counted.
  const dir = await mkdtemp(join(tmpdir(), 'sluice-test-'))
  t.after(() => rm(dir, { recursive: true }))
  const taken = net.createServer()
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
  t.after(() => taken.close())
  const { port } = taken.address() as net.AddressInfo
  const gateway = await startGateway(t, { upstreams: [{ urls: ['http://127.0.0.1:1'] }] })
  const before = threads()
  const failing = gateway.reload({
    upstreams: [{ urls: ['http://127.0.0.1:1'] }],
    listener: { address: `127.0.0.1:${port}`, port },
    log: {
      sink: 'file',
      fields: 'standard',
      file: { dir, maxBytes: 8 * MB, segmentBytes: MB },
      elasticsearch: null,
      outputs: [],
      geo: null,
      slowMs: 1000,
      privacy: null,
      unknownRoutes: true,
      capture: null,
    },
  })
  await assert.rejects(failing, /cannot listen/)
  await until(() => threads() === before)
})
