import assert from 'node:assert/strict'
import http from 'node:http'
import { type TestContext, test } from 'node:test'
import { origin, scratch } from '@sluice/cli/testing'
import { startSupervisor, workerEntry } from '@sluice/gateway'
import { catalog } from '@sluice/policies'
import { slapdSkip } from '@sluice/policies/testing'
import { bodyOf } from '../engine/call-body.js'
import type { Scenario } from '../model/scenario.js'
import { asksDirectory, startIdentity } from '../servers/identity.js'
import { distinctCalls } from '../testing/distinct-calls.js'
import { suites } from './suites.js'

/** Policies that make something else of a request, which the origin sends back. */
const CHANGING = ['xml-json', 'transform', 'jwe', 'ws-security']

/**
 * The scenarios of one gateway. A worker has 15 s to compile a document, which those of all suites together take on a
 * busy machine.
 */
const AT_A_TIME = 75

test('a gateway answers the call of every scenario with what the origin says', async (t) => {
  // The name of a host is shorter than those of some scenarios, hence numbers.
  if (slapdSkip !== false) t.diagnostic(`left out: ldap, because ${slapdSkip}`)
  const scenarios = suites
    .flatMap(({ cases, variants = [] }) => [...cases, ...variants])
    .map(({ scenario }) => scenario)
    .filter(({ routes }) => slapdSkip === false || !asksDirectory(routes))
  const hosted = distinctCalls(scenarios).map((scenario, i) => ({ host: `scenario-${i}.test`, scenario }))
  const target = await origin(t, (request, response) => request.pipe(response))
  for (let at = 0; at < hosted.length; at += AT_A_TIME) {
    const some = hosted.slice(at, at + AT_A_TIME)
    await t.test(`those from ${some[0]!.scenario.id} on`, async (part) => {
      const gateway = await gatewayFor(part, some, target)
      for (const each of some) await assertAnswered(gateway, each)
    })
  }
})

async function assertAnswered(gateway: string, { host, scenario }: HostedScenario): Promise<void> {
  const given = scenario.call.body
  const body = given === null ? Buffer.alloc(0) : bodyOf(given)
  const answer = await call(gateway, host, scenario, body)
  assert.equal(answer.status, 200, `${scenario.id}: ${answer.body.toString().slice(0, 500)}`)
  if (CHANGING.some((name) => JSON.stringify(scenario.routes).includes(`"${name}"`))) return
  // A transformation may end its text with a line end that the message did not have.
  assert.equal(answer.body.toString().trim(), body.toString(), scenario.id)
}

interface HostedScenario {
  readonly host: string
  readonly scenario: Scenario
}

/** What a policy is to be given, so that it does not give up on a busy machine: the most that its schema takes. */
const PATIENCE: Readonly<Record<string, object>> = {
  ldap: { timeouts: { connect: '20s', operation: '20s' } },
  'oauth2-introspection': { timeout: '20s' },
  script: { limits: { time: '1s' } },
  transform: { timeout: '5s' },
  xslt: { timeout: '10s' },
}

/** The routes with times that a busy machine keeps to. */
function patiently(routes: Scenario['routes']): unknown {
  return JSON.parse(JSON.stringify(routes), (key, value) => {
    // Keys of an issuer.
    if (key === 'jwks') return { ...value, timeout: '20s' }
    const patience = PATIENCE[value?.use]
    return patience === undefined ? value : { ...value, with: { ...value.with, ...patience } }
  })
}

/** One gateway for several: each scenario has its routes on a host of its own. */
async function gatewayFor(
  t: TestContext,
  scenarios: readonly HostedScenario[],
  target: string,
): Promise<string> {
  const dataDir = scratch(t)
  const named = scenarios.flatMap(({ host, scenario }) =>
    (patiently(scenario.routes) as { readonly id: string; readonly match: object }[]).map((route) => ({
      ...route,
      id: `${host}-${route.id}`,
      match: { ...route.match, hosts: [host] },
    })),
  )
  const { routes, stop } = await startIdentity(named, dataDir)
  t.after(stop)
  const document = {
    version: 1,
    listeners: [{ address: '127.0.0.1:0' }],
    admin: { address: '127.0.0.1:0' },
    upstreams: { origin: { targets: [target] } },
    routes,
    log: { sink: 'none' },
  }
  const supervisor = await startSupervisor({
    source: async () => ({ text: JSON.stringify(document), name: 'suites.yaml' }),
    catalog,
    workerEntry,
    dataDir,
    workers: 1,
  })
  t.after(() => supervisor.close())
  return supervisor.status().listeners[0]!.url
}

function call(
  gateway: string,
  host: string,
  scenario: Scenario,
  body: Buffer,
): Promise<{ readonly status: number; readonly body: Buffer }> {
  const { method, path, headers } = scenario.call
  return new Promise((resolve, reject) => {
    const fields = { ...headers, host, 'content-length': body.length }
    const request = http.request(`${gateway}${path}`, { method, headers: fields }, (response) => {
      const pieces: Buffer[] = []
      response.on('data', (piece: Buffer) => pieces.push(piece))
      response.on('end', () => resolve({ status: response.statusCode!, body: Buffer.concat(pieces) }))
      response.on('error', reject)
    })
    request.on('error', reject)
    request.end(body)
  })
}
