import assert from 'node:assert/strict'
import http from 'node:http'
import https from 'node:https'
import { test } from 'node:test'
import { makeCertificate } from '@sluice/policies/testing'
import { fileWith, startGateway, until } from './testing.js'

const REPLACEMENTS = 10
const CLIENTS = 4
/** Minimum number of connections that are opened between two deploys. */
const CONNECTIONS_EACH = 20

/** Opens a connection for each request until it is stopped. */
function startClients(url: string) {
  const outcomes = new Map<string, number>()
  const note = (outcome: string): void => void outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
  let begun = 0
  let isOver = false
  const call = (): Promise<void> =>
    new Promise((resolve) => {
      begun++
      const end = (outcome: string): void => {
        note(outcome)
        resolve()
      }
      const answered = (res: http.IncomingMessage): void => {
        res.resume().on('end', () => end(String(res.statusCode)))
        res.on('error', ({ message }) => end(message))
      }
      const request = url.startsWith('https:')
        ? https.get(url, { agent: false, rejectUnauthorized: false }, answered)
        : http.get(url, { agent: false }, answered)
      request.on('error', ({ message }) => end(message))
    })
  const loops = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) await call()
  })
  const stop = async (): Promise<Map<string, number>> => {
    isOver = true
    await Promise.all(loops)
    return outcomes
  }
  return { begun: () => begun, stop }
}

interface Replacement {
  readonly name: string
  readonly scheme: 'http' | 'https'
  /** Two sets of listener keys, deployed alternately. */
  readonly listeners: (tls: readonly string[]) => readonly [string, string]
  /** Maximum number of reset connections. */
  readonly maxResets: number
}

const CASES: readonly Replacement[] = [
  // The kernel resets connections that arrive at the moment a socket closes (ADR 3).
  {
    name: 'another engine',
    scheme: 'http',
    listeners: () => ['engine: uws', 'engine: node'],
    maxResets: REPLACEMENTS / 3,
  },
  {
    name: 'other TLS settings',
    scheme: 'https',
    listeners: ([one, other]) => [`engine: node, ${one}`, `engine: node, ${other}`],
    maxResets: 0,
  },
]

for (const { name, scheme, listeners, maxResets } of CASES)
  test(`a listener that is replaced because of ${name} resets no connections`, async (t) => {
    const tls = ['one', 'other'].map((owner) => {
      const { certificatePem, keyPem } = makeCertificate({ name: owner, kind: 'ec' })
      const certFile = fileWith(t, certificatePem, 'cert.pem')
      return `tls: { certFile: ${certFile}, keyFile: ${fileWith(t, keyPem, 'key.pem')} }`
    })
    const [first, second] = listeners(tls).map(
      (keys) => `version: 1
listeners: [{ address: "127.0.0.1:0", ${keys} }]
admin: { address: "127.0.0.1:0" }
workers: 1
log: { sink: none }
routes: [{ id: all, match: { path: /* }, respond: { status: 200, body: ok } }]`,
    )
    const gateway = await startGateway(t, first!)
    const clients = startClients(gateway.url)
    assert.ok(gateway.url.startsWith(`${scheme}:`))
    for (let i = 0; i < REPLACEMENTS; i++) {
      const headers = { 'content-type': 'application/yaml' }
      const body = i % 2 === 0 ? second! : first!
      const answer = await fetch(`${gateway.admin}/v1/config`, { method: 'PUT', headers, body })
      assert.equal(((await answer.json()) as { readonly result: string }).result, 'applied')
      const enough = clients.begun() + CONNECTIONS_EACH
      await until(() => clients.begun() >= enough)
    }
    const outcomes = await clients.stop()
    outcomes.delete('200')
    const failed = [...outcomes.values()].reduce((sum, count) => sum + count, 0)
    assert.ok(failed <= maxResets, JSON.stringify([...outcomes]))
  })
