import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { closedPort, fileWith, origin, scratch, startGateway, until } from '../testing.js'

test('doctor gives advice per problem, and status shows certificates, canaries and targets that are out', async (t) => {
  const target = await origin(t, (_req, res) => res.end())
  const down = `http://127.0.0.1:${await closedPort()}`
  const certFile = join(scratch(t), 'cert.pem')
  const keyFile = join(scratch(t), 'key.pem')
  const request = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:prime256v1',
    '-nodes',
    '-days',
    '90',
  ]
  const files = ['-subj', '/CN=localhost', '-keyout', keyFile, '-out', certFile]
  execFileSync('openssl', [...request, ...files], { stdio: 'ignore' })
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }, { address: "localhost:0", tls: { certFile: ${certFile}, keyFile: ${keyFile} } }]
admin: { address: "127.0.0.1:0" }
workers: 1
upstreams:
  up: { targets: ["${target}"] }
  half: { targets: ["${target}", { url: "${down}" }], health: { path: /, interval: 100ms } }
routes: [{ id: all, match: { path: /* }, upstream: up }]
`,
  )
  const run = (...args: string[]) => gwInProcess([...args, '--server', gateway.admin])
  await until(async () => (await run('status')).stdout.includes(' is out: '))
  const { stdout } = await run('status')
  assert.match(stdout, /\nconfiguration [0-9a-f]{12}, from file, applied \d+s ago by start\n/)
  assert.match(stdout, new RegExp(`\ncertificate ${certFile}: \\d+ days? left\n`))
  assert.match(stdout, new RegExp(`\ntarget ${down} of half is out: unhealthy \\(.*\\)\n`))
  const json = JSON.parse((await run('status', '-o', 'json')).stdout)
  assert.deepEqual([json.ready, json.targetsOut[0].target, json.certificates[0].file], [true, down, certFile])

  await run('upstream', 'drain', 'up', target)
  const advised = await run('doctor')
  assert.equal(advised.code, 1)
  assert.match(advised.stdout, /^CHECK +RESULT +DETAIL\nreadiness +ok /)
  assert.match(advised.stdout, /\nupstreams +problem .* of half: unhealthy/)
  assert.match(advised.stdout, /\nupstreams: check the target; gw upstream health shows its checks\n/)
  assert.match(
    advised.stdout,
    new RegExp(`\nupstreams: gw upstream undrain up ${target} returns it to service\n`),
  )
  assert.match(advised.stdout, /\nheap +ok +[\d.]+ MB of [\d.]+ [MG]B used, /)
  assert.match(advised.stdout, /\nfile descriptors +\w+ +at most \d+ of \d+ open\n/)

  await run(
    'deploy',
    fileWith(
      t,
      `version: 1\nlisteners: [{ address: "127.0.0.1:0" }]\nadmin: { address: "127.0.0.1:0" }\nworkers: 1\nroutes: [{ id: all, respond: { status: 204 } }]\n`,
    ),
    '--note',
    'simpler',
  )
  const healthy = await run('doctor', '-o', 'json')
  const { problems, findings } = JSON.parse(healthy.stdout)
  assert.deepEqual([healthy.code, problems], [0, 0], healthy.stdout)
  assert.ok(findings.length >= 8)
  assert.match(
    (await run('status')).stdout,
    /, from api, applied \d+s ago by \S+ \(simpler\); not saved to the file\n/,
  )
})
