import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Exchange } from '@sluice/core'
import type { ClientStream } from '../../listener.js'
import { serveHttp2 } from './testing/serve.js'

const command = process.env['SLUICE_H2SPEC'] ?? ''
const skip = command === '' && 'no h2spec; use npm test, or npm run services and the variable that it prints'

/**
 * Frames on closed streams are ignored (docs/guides/engines.md, "Details of HTTP/2"). Half-closed streams are among them
 * if the response was faster than the frame: they are closed then.
 */
const EXPLAINED: ReadonlySet<string> = new Set([
  'http2/5.1 half closed (remote): Sends a DATA frame',
  'http2/5.1 half closed (remote): Sends a HEADERS frame',
  'http2/5.1 closed: Sends a DATA frame after sending RST_STREAM frame',
  'http2/5.1 closed: Sends a HEADERS frame after sending RST_STREAM frame',
  'http2/5.1 closed: Sends a DATA frame',
  'http2/5.1 closed: Sends a HEADERS frame',
  'http2/5.1.1 Sends stream identifier that is numerically smaller than previous',
  'http2/6.1 Sends a DATA frame on the stream that is not in &#34;open&#34; or &#34;half-closed (local)&#34; state',
])
const CASES = 145

const BODY = Buffer.alloc(1024)

function answer(client: ClientStream, { method, contentLength }: Exchange): void {
  if (method === 'HEAD') client.sendHead(200, [], BODY.length)
  else if (contentLength === 0) client.send(200, [], BODY)
  else client.readBody({ onBodyChunk: (_, isLast) => void (isLast && client.send(200, [], BODY)) })
}

test('h2spec finds only documented deviations', { skip }, async (t) => {
  const { port } = await serveHttp2(t, answer)
  const folder = mkdtempSync(join(tmpdir(), 'sluice-h2spec-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const report = join(folder, 'report.xml')
  const program = spawn(command, ['-h', '127.0.0.1', '-p', String(port), '-j', report], { stdio: 'ignore' })
  t.after(() => program.kill())
  await new Promise((resolve) => program.once('close', resolve))
  const text = readFileSync(report, 'utf8')
  const failed = text.matchAll(/<testcase package="([^"]*)" classname="([^"]*)"[^>]*>\s*<(?:error|failure)/g)
  assert.deepEqual(
    [...failed].map(([, section, name]) => `${section} ${name}`).filter((each) => !EXPLAINED.has(each)),
    [],
  )
  assert.equal([...text.matchAll(/<testcase /g)].length, CASES)
})
