import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { origin, scratch, startGateway, until } from '../testing.js'

test('one record is shown with its timeline, explained with its configuration, and counted', async (t) => {
  const target = await origin(t, (req, res) => {
    res.statusCode = req.url?.startsWith('/fails') === true ? 503 : 200
    res.end('hello')
  })
  const dir = join(scratch(t), 'traffic')
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
upstreams:
  up:
    targets: ["${target}"]
    retry: { attempts: 2, on: [503] }
routes:
  - id: keys
    match: { path: /keys }
    upstream: up
    policies: [{ use: api-key, with: { keys: [{ id: acme, sha256: "${'0'.repeat(64)}" }] } }, { use: cors, with: { origins: ["*"] } }]
  - { id: all, match: { path: /* }, upstream: up }
log: { sink: file, fields: full, file: { dir: ${dir} } }
`,
  )
  const call = async (path: string): Promise<string> => {
    const answer = await fetch(gateway.url + path)
    await answer.arrayBuffer()
    return answer.headers.get('x-request-id') ?? ''
  }
  const failed = await call('/fails?page=2')
  const refused = await call('/keys')
  await call('/ok')
  const logs = (...args: string[]) => gwInProcess(['logs', ...args, '--dir', dir])
  await until(async () => (await logs('search', '-o', 'jsonl')).stdout.split('\n').length === 4)

  const { stdout } = await logs('show', failed)
  assert.match(stdout, /^GET http:\/\/127\.0\.0\.1\/fails\?page=2 -> 503 error [\d.]+ ms\n\nid +\S+\n/)
  assert.match(stdout, /\nupstream +up, http:\/\/127.0.0.1:\d+, status 503, 3 attempts/)
  assert.match(stdout, /\nPHASE +MS\n(\w+ +[\d.]+ +█+\n)+/)
  assert.match(stdout, /\nup_ttfb +[\d.]+ +█+\n/)
  assert.match(stdout, /\nFAILED ATTEMPT +MS +FAILURE +REASON +RETRY\nhttp:\S+ +[\d.]+ +503 /)
  const blocked = (await logs('show', refused)).stdout
  assert.match(blocked, /\nerror +GW_AUTH_MISSING, policy keys\/1, phase req_chain/)
  assert.match(
    blocked,
    /\nPOLICY +MS +OUTCOME +NOTE\nkeys\/2 +[\d.]+ +pass\nkeys\/1 +[\d.]+ +stop +GW_AUTH_MISSING\n/,
  )
  assert.equal(JSON.parse((await logs('show', failed, '-o', 'json')).stdout).id, failed)
  const missing = await logs('show', '*')
  assert.deepEqual([missing.code, missing.stdout], [1, ''])
  assert.match(missing.stderr, /^no record has the id '\*'; the id is in the response's x-request-id/)

  const explain = (...args: string[]) =>
    gwInProcess(['explain', '--id', refused, ...args, '--server', gateway.admin])
  const why = (await explain('-c', gateway.config)).stdout
  assert.match(why, /^GET \S+\/keys -> 401 blocked /)
  assert.match(
    why,
    /\nserved by +configuration [0-9a-f]{12}, deploy 1 of \w+ ago by start, which is active\n/,
  )
  assert.match(why, /\nroute +keys, because the request matches path \/keys, any method, any host\n/)
  assert.match(why, /\nrefused +with GW_AUTH_MISSING, by policy keys\/1, phase req_chain\n/)
  assert.match(why, /\nneeded +Send credentials .*\naccepted +ApiKey in="header", name="x-api-key"\n/)
  assert.match(
    why,
    /\n +2\. api-key \(keys\/1\): refused .*\n.*\n +with \{"keys":\[\{"id":"acme","sha256":"\*\*\*"/,
  )
  assert.match(why, /\n +1\. cors \(keys\/2\): passed\n/)
  const unreached = await gwInProcess([
    'explain',
    '--id',
    refused,
    '--dir',
    dir,
    '--server',
    'http://127.0.0.1:1',
  ])
  assert.match(unreached.stderr, /^the running configuration is unknown: cannot reach the gateway/)
  assert.match(unreached.stdout, /\nserved by .*, whose document is not known; name it with -c\n/)
  writeFileSync(gateway.config, readFileSync(gateway.config, 'utf8').replace('/keys', '/other'))
  await gwInProcess(['deploy', gateway.config, '--server', gateway.admin])
  const before = (await explain('--dir', dir)).stdout
  assert.match(
    before,
    /\nserved by .*, but [0-9a-f]{12} is active now, so the settings below, from \S+, may be others\n/,
  )
  const [segment] = readdirSync(dir).filter((name) => name.endsWith('.ndjson'))
  const old = join(scratch(t), segment!)
  const lines = readFileSync(join(dir, segment!), 'utf8').replaceAll('"route":"keys"', '"route":"gone"')
  writeFileSync(old, lines.replaceAll(/"config":"[0-9a-f]{12}"/g, '"config":"ffffffffffff"'))
  const forgotten = await explain('--dir', dirname(old))
  assert.equal(forgotten.code, 0)
  assert.match(
    forgotten.stdout,
    /\nserved by +configuration ffffffffffff, whose deploy is no longer kept, but [0-9a-f]{12} is active now, so /,
  )
  assert.match(forgotten.stdout, /\nroute +gone, which the known configurations do not have\n/)
  assert.match(forgotten.stdout, /\nrefused +with GW_AUTH_MISSING, by policy keys\/1, phase req_chain\n/)
  const wrong = await gwInProcess(['explain', '--id', refused, 'GET', '/keys'])
  assert.deepEqual([wrong.code, wrong.stdout], [64, ''])

  const table = (await logs('stats')).stdout
  assert.match(
    table,
    /^ROUTE +REQUESTS +PER S +ERRORS +BLOCKED +P50 MS +P90 MS +P99 MS +MAX MS\nall +2 .*\nkeys +1 .*\ntotal +3 /,
  )
  assert.match(table, /\nDURATION +REQUESTS\n(<? ?\S+ +\d+ *█*\n)+$/)
  const stats = JSON.parse(
    (await logs('stats', '--by', 'status', '--status', '401,503', '-o', 'json')).stdout,
  )
  assert.deepEqual(
    [stats.total.count, stats.total.errors, stats.total.blocked, stats.by],
    [2, 1, 1, 'status'],
  )
  assert.deepEqual(
    stats.groups.map(({ key, count }: { key: string; count: number }) => [key, count]),
    [
      ['401', 1],
      ['503', 1],
    ],
  )
  assert.ok(stats.total.p99 > 0 && stats.total.perSecond > 0)
  assert.match((await logs('stats', '--since', '1h', '--until', '30m')).stderr, /no matching records\n$/)
  assert.match((await logs('stats', '--by', 'rout')).stderr, /allowed choices are route, status/)
})
