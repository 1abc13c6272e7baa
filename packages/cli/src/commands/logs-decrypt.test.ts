import assert from 'node:assert/strict'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { gwInProcess } from '../testing/in-process.js'
import { fileWith, gw, origin, scratch, startGateway, until } from '../testing.js'

const SECRET = 'the secret of the month'
const MAIL = 'zoe.unlikely@example.com'
const RULES = `
  privacy:
    keys: [{ id: k1, secret: '\${env:LOG_KEY}' }]
    rules:
      - { id: mails, find: { type: email }, do: encrypt }
      - { id: names, find: { names: [x-customer, name] }, keepFirst: 2 }
      - { id: pages, find: { names: [page] }, in: [query], do: delete }
      - { id: cards, find: { type: card }, do: hash }
`

/** What a real gateway has logged of one call, as lines of JSON. */
async function loggedLines(t: TestContext): Promise<string> {
  const target = await origin(t, (_, res) => res.setHeader('x-answer', `for ${MAIL}`).end('ok'))
  const dir = join(scratch(t), 'traffic')
  process.env['LOG_KEY'] = SECRET
  t.after(() => delete process.env['LOG_KEY'])
  const gateway = await startGateway(
    t,
    `version: 1
listeners: [{ address: "127.0.0.1:0" }]
admin: { address: "127.0.0.1:0" }
workers: 1
upstreams: { up: { targets: ["${target}"] } }
routes: [{ id: all, match: { path: /* }, upstream: up }]
log:
  sink: file
  fields: full
  file: { dir: ${dir} }${RULES}`,
  )
  const url = `${gateway.url}/a?page=2&name=G%C3%BCler&card=4111111111111111&to=${encodeURIComponent(MAIL)}`
  const answer = await fetch(url, { headers: { 'x-customer': 'Zoe', 'user-agent': MAIL } })
  assert.equal(answer.headers.get('x-answer'), `for ${MAIL}`)
  const tail = () => gwInProcess(['logs', 'tail', '--dir', dir, '--no-follow', '-o', 'jsonl'])
  await until(async () => (await tail()).stdout !== '')
  return (await tail()).stdout
}

test('a gateway logs only what its rules leave, and those with the key can read the rest', async (t) => {
  const lines = await loggedLines(t)
  assert.ok(!lines.includes('unlikely') && !lines.includes('4111111111111111'), lines)
  const { url, hdr, ua, privacy } = JSON.parse(lines)
  assert.match(url.query, /^name=G%C3%BC\*\*\*&card=~hmac~k1~[\w-]{43}~&to=~enc~k1~[\w-]+~$/)
  assert.equal(hdr.req_up['x-customer'], 'Zo***')
  assert.match(ua, /^~enc~k1~[\w-]+~$/)
  assert.match(hdr.res_out['x-answer'], /^for ~enc~k1~[\w-]+~$/)
  assert.deepEqual([...privacy.rules].sort(), ['cards', 'mails', 'names', 'pages'])
  assert.deepEqual([...privacy.detected].sort(), ['card', 'email'])

  const keyFile = fileWith(t, `${SECRET}\n`, 'key')
  const other = fileWith(t, 'another secret', 'key')
  const file = fileWith(t, `${lines}damaged\n`, 'calls.ndjson')
  const [piped, read] = await Promise.all([
    gw(['logs', 'decrypt'], { stdin: lines, env: { GW_LOG_KEY: SECRET } }),
    gwInProcess(['logs', 'decrypt', '--key-file', other, '--key-file', keyFile, file]),
  ])
  assert.deepEqual([piped.code, piped.stderr], [0, ''])
  assert.deepEqual([read.code, read.stdout, read.stderr], [0, piped.stdout, 'skipped 1 damaged line\n'])
  const opened = JSON.parse(piped.stdout)
  assert.match(opened.url.query, new RegExp(`&to=${encodeURIComponent(MAIL)}$`))
  assert.deepEqual([opened.ua, opened.hdr.res_out['x-answer']], [MAIL, `for ${MAIL}`])

  const wrong = await gwInProcess(['logs', 'decrypt', '--key-file', other, file])
  assert.equal(wrong.code, 1)
  assert.equal(wrong.stdout, lines)
  assert.match(wrong.stderr, /some values are still encrypted: no key has the id k1\n$/)
})

test('decrypting says what it needs', async (t) => {
  const run = (args: string[], env: Record<string, string> = {}) =>
    gwInProcess(['logs', 'decrypt', ...args], { env: { GW_LOG_KEY: '', ...env } })
  const [without, noKeyFile, empty, noFile] = await Promise.all([
    run([]),
    run(['--key-file', '/nowhere']),
    run(['--key-file', fileWith(t, '\n', 'key')]),
    run(['/nowhere'], { GW_LOG_KEY: SECRET }),
  ])
  assert.deepEqual([without.code, noKeyFile.code, empty.code, noFile.code], [64, 1, 1, 1])
  assert.match(without.stderr, /no key given; use --key-file or GW_LOG_KEY/)
  assert.match(noKeyFile.stderr, /cannot read the key file \/nowhere: there is no such file/)
  assert.match(empty.stderr, /the key file \S+ is empty/)
  assert.match(noFile.stderr, /cannot read \/nowhere: there is no such file/)
})
