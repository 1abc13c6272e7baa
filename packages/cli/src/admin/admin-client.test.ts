import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { EXIT, Failure } from '../output/failure.js'
import { gwInProcess } from '../testing/in-process.js'
import { closedPort, documentFor, fileWith, gw, type Outcome, origin, scratch } from '../testing.js'
import { AdminClient } from './admin-client.js'

// Whatever may listen where a gateway is expected. What a real gateway answers is tested with a real one.

async function statusOf(
  t: TestContext,
  handler: RequestListener,
  env: Record<string, string> = {},
): Promise<Outcome> {
  return gwInProcess(['status', '--server', await origin(t, handler)], { env: { GW_TOKEN: '', ...env } })
}

test('an unreachable admin API exits with 5 and prints the address and the fix', async () => {
  const server = `http://127.0.0.1:${await closedPort()}`
  const message = `cannot reach the gateway at ${server} (connection refused); is it running? set --server or GW_SERVER\n`
  const outcomes = await Promise.all([
    gw(['status', '--server', server], { env: { GW_SERVER: 'http://127.0.0.1:1' } }),
    gwInProcess(['--server', server, 'routes']),
    gwInProcess(['upstream', 'list'], { env: { GW_SERVER: server } }),
    gwInProcess(['drain', '--yes'], { env: { GW_SERVER: server } }),
  ])
  for (const outcome of outcomes) assert.deepEqual(outcome, { code: 5, stdout: '', stderr: message })
})

test('with -o json, a failure is an object on stdout: out of reach, refused or invalid', async (t) => {
  const away = `http://127.0.0.1:${await closedPort()}`
  const refusing = await origin(t, (_, res) =>
    res.writeHead(409).end('{"code":"GW_ADMIN_CONTROLLED","detail":"group \'edge\'"}'),
  )
  const file = fileWith(t, 'version: 2\n')
  const cases: readonly (readonly [string[], object])[] = [
    ...[['status'], ['health'], ['drain', '--yes'], ['rollback'], ['fleet'], ['upgrade'], ['doctor']].map(
      (args) => [[...args, '--server', away], { code: 'unreachable', exitCode: 5 }] as const,
    ),
    [
      ['history', '--server', refusing],
      { code: 'failed', exitCode: 1, status: 409, problem: 'GW_ADMIN_CONTROLLED' },
    ],
    [['diff', file, '--server', away], { code: 'invalid', exitCode: 3 }],
    [['render', '/nonexistent'], { code: 'invalid', exitCode: 3 }],
  ] as never
  for (const [args, expected] of cases) {
    const { code, stdout, stderr } = await gwInProcess([...args, '-o', 'json'])
    const { schemaVersion, error } = JSON.parse(stdout)
    const { message, diagnostics, ...rest } = error
    assert.deepEqual([schemaVersion, `${message}\n`, code], [1, stderr, rest.exitCode], args.join(' '))
    assert.deepEqual([rest, diagnostics !== undefined], [expected, args[0] === 'diff'], args.join(' '))
  }
})

test('something that does not speak HTTP is reported', async (t) => {
  const server = createServer((socket) => socket.end('SSH-2.0-x\r\n'))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const { code, stderr } = await gwInProcess(['status', '--server', `http://127.0.0.1:${port}`])
  assert.equal(code, 5)
  assert.match(stderr, /\(it does not use HTTP\)/)
})

test('a wrong scheme of the admin API is reported with the right URL', async (t) => {
  const { key, cert } = makeCertificate(t)
  const secure = createSecureServer({ key, cert }, (_, res) => res.end('{}'))
  await new Promise<void>((resolve) => secure.listen(0, '127.0.0.1', resolve))
  t.after(() => secure.close())
  const address = `127.0.0.1:${(secure.address() as AddressInfo).port}`
  const open = await gwInProcess(['status', '--server', `http://${address}`])
  assert.equal(open.code, 5)
  assert.match(open.stderr, new RegExp(`it uses TLS: use https://${address}, and trust its certificate with`))
  const plain = await origin(t, (_, res) => res.end('{}'))
  const closed = await gwInProcess(['status', '--server', plain.replace('http:', 'https:')])
  assert.equal(closed.code, 5)
  assert.match(closed.stderr, new RegExp(`\\(it does not use TLS\\); use ${plain}\\n$`))
})

test('a server that is not a gateway is reported, whatever it responds', async (t) => {
  const server = /^the response of http:\/\/127\.0\.0\.1:\d+ \(200, text\/html, server nginx\) /
  const cases: readonly (readonly [string, RegExp])[] = [
    ['<html>hello</html>', / is not a JSON object; is it a gateway\?\n$/],
    ['[]', / is not a JSON object; is it a gateway\?\n$/],
    ['{}', / has no valid 'ready'; is this a gateway of this version of gw\?\n$/],
    ['{"ready":true,"version":1}', / has no valid 'version'; /],
  ]
  for (const [text, message] of cases) {
    const { code, stdout, stderr } = await statusOf(t, (_, res) =>
      res.writeHead(200, { 'content-type': 'text/html', server: 'nginx' }).end(text),
    )
    assert.match(stderr, server)
    assert.match(stderr, message)
    assert.deepEqual([code, stdout], [1, ''])
  }
})

test('every command for a gateway or controller names the URL of a foreign server and its response', async (t) => {
  for (const [i, status] of [200, 404].entries()) {
    const server = await origin(t, (_, res) =>
      res.writeHead(status, { 'content-type': 'text/html', server: 'Caddy' }).end('<html>'),
    )
    const commands =
      'status, top --once, trace --count 1, doctor, history, rollback, health, routes, routes show a, upstream, upstream health, upstream drain a b, cache, cache get a, cache purge --key a, limits get, limits reset a --yes, quota get, bans list, upgrade, drain --yes, diff GATEWAY, deploy GATEWAY, plugin list, fleet, fleet forget a, control groups, control audit, control token list, control token create a --role viewer, history --group a, show --group a, rollback --group a, deploy GATEWAY --group a, diff GATEWAY --group a'
    const gateway = fileWith(t, documentFor('http://127.0.0.1:9'))
    for (const command of commands.split(', ')) {
      if (status === 200 && /^(health|drain|trace)/.test(command)) continue
      const { code, stderr } = await gwInProcess([
        ...command.replace('GATEWAY', gateway).split(' '),
        ...['--server', server],
      ])
      const kind = /fleet|control|--group/.test(command) ? 'controller' : 'gateway'
      const facts = ['200, text/html, server Caddy', '404, text/html, server Caddy'][i]
      assert.ok(stderr.includes(server) && stderr.includes(`${facts}`), `${command}: ${stderr}`)
      assert.match(stderr, new RegExp(`; is it a ${kind}\\?\\n$`), command)
      assert.equal(code, 1, command)
    }
  }
})

test('a rejected request is reported with its detail, and missing permissions exit with 4', async (t) => {
  const cases: readonly (readonly [number, string, number, RegExp])[] = [
    [401, '{"detail":"send a token"}', 4, /answered 401: send a token\n$/],
    [403, '{"title":"Role not sufficient"}', 4, /answered 403: Role not sufficient\n$/],
    [429, '{"detail":"try again in 9 s"}', 4, /answered 429: try again in 9 s\n$/],
    [
      503,
      '{"detail":"no configuration is active yet"}',
      1,
      /answered 503: no configuration is active yet\n$/,
    ],
    [302, '', 1, /^http:\S+ answered 302; is it a gateway\?\n$/],
    [500, '<html>', 1, /^http:\S+ answered 500; is it a gateway\?\n$/],
    [500, '{"detail":"a\\u001b[2Jb"}', 1, /answered 500: a\\u\{1b\}\[2Jb\n$/],
  ]
  for (const [status, text, exit, message] of cases) {
    const { code, stderr } = await statusOf(t, (_, res) => res.writeHead(status).end(text))
    assert.match(stderr, message)
    assert.equal(code, exit)
  }
})

test('the address of a listener instead of the admin API is reported', async (t) => {
  const { code, stderr } = await statusOf(t, (_, res) =>
    res.writeHead(404, { 'x-gw-error': 'GW_ROUTE_NOT_FOUND' }).end('{"detail":"no route matches"}'),
  )
  assert.match(
    stderr,
    /answered 404: no route matches; this is a listener, use the address of the admin API\n$/,
  )
  assert.equal(code, 1)
})

test('the token comes from the file before the environment, and goes out as a bearer token', async (t) => {
  const seen: (string | undefined)[] = []
  const server = await origin(t, (req, res) => {
    seen.push(req.headers.authorization)
    res.writeHead(401).end()
  })
  const file = fileWith(t, 'from-file\n', 'token')
  chmodSync(file, 0o600)
  const env = { GW_SERVER: server, GW_TOKEN: 'from-env' }
  await gwInProcess(['status'], { env })
  const { stderr } = await gwInProcess(['status', '--token-file', file], { env })
  await gwInProcess(['status'], { env: { ...env, GW_TOKEN: '' } })
  assert.deepEqual(seen, ['Bearer from-env', 'Bearer from-file', undefined])
  assert.doesNotMatch(stderr, /from-file|chmod/)
})

test('a world-readable token file causes a warning, and an invalid one is not used', async (t) => {
  const server = await origin(t, (_, res) => res.writeHead(401).end())
  const open = fileWith(t, 'secret-token', 'token')
  chmodSync(open, 0o644)
  const broken = fileWith(t, 'two\nlines', 'token')
  const run = (file: string) => gwInProcess(['status', '--server', server, '--token-file', file])
  assert.match(
    (await run(open)).stderr,
    /^other users can read or change \S+; make it private with chmod 600 /,
  )
  const two = await run(broken)
  assert.match(two.stderr, /contains no valid token; it must be one line of visible ASCII characters\n$/)
  assert.equal(two.code, 64)
  const missing = await run('/nonexistent/token')
  assert.match(missing.stderr, /^cannot read the token file \/nonexistent\/token: there is no such file$/m)
  assert.equal(missing.code, 1)
  const fromEnv = await gwInProcess(['status'], { env: { GW_SERVER: server, GW_TOKEN: 'J\u00fc' } })
  assert.match(fromEnv.stderr, /^GW_TOKEN contains no valid token/)
})

test('sending a token unencrypted to another machine is reported', async () => {
  const { stderr } = await gwInProcess(['status', '--server', 'http://gateway.invalid:1'], {
    env: { GW_TOKEN: 'x' },
  })
  assert.match(stderr, /^the token is sent to http:\/\/gateway\.invalid:1 unencrypted; use https\n/)
})

test('responses have a time limit and a size limit', async (t) => {
  const silent = new AdminClient({ server: await origin(t, () => {}) })
  await assert.rejects(
    silent.send({ method: 'GET', path: '/', timeoutMs: 50 }),
    failure(/\(no response within 0\.05 s\)/),
  )
  const dripping = new AdminClient({ server: await origin(t, (_, res) => res.writeHead(200).write('{')) })
  await assert.rejects(
    dripping.send({ method: 'GET', path: '/', timeoutMs: 50 }),
    failure(/no response within/),
  )
  const chunk = Buffer.alloc(1024 * 1024)
  const endless = await origin(t, (_, res) => {
    const pump = (): void => {
      while (res.write(chunk));
      res.once('drain', pump)
    }
    pump()
  })
  const request = { method: 'GET', path: '/', timeoutMs: 60_000 } as const
  await assert.rejects(
    new AdminClient({ server: endless }).send(request),
    failure(/is larger than 67108864 bytes/),
  )
})

function failure(message: RegExp): (error: unknown) => boolean {
  return (error) => error instanceof Failure && error.exit === EXIT.unreachable && message.test(error.message)
}

/** A self-signed certificate and its key. */
function makeCertificate(t: TestContext): { readonly key: Buffer; readonly cert: Buffer } {
  const dir = scratch(t)
  const [key, cert] = [join(dir, 'key.pem'), join(dir, 'cert.pem')]
  const how = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost']
  const { status, stderr } = spawnSync('openssl', ['req', ...how, '-keyout', key, '-out', cert])
  assert.equal(status, 0, String(stderr))
  return { key: readFileSync(key), cert: readFileSync(cert) }
}
