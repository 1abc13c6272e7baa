import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { type RunningController, startController } from '../testing/controller.js'
import { scratch } from '../testing.js'

const document = (path: string, more = ''): string => `version: 1
listeners: [{ address: '127.0.0.1:0' }]
routes:
  - id: one
    match: { path: ${path} }
    respond: { status: 200 }
${more}`

/** A folder with a document, and a controller without gateways. */
async function startEmpty(t: TestContext) {
  const controller = await startController(t)
  const folder = scratch(t)
  const write = (text: string): void => writeFileSync(join(folder, 'gateway.yaml'), text)
  const run: RunningController['run'] = (args, options) => controller.run(args, { cwd: folder, ...options })
  return { controller, folder, write, run }
}

test('a group has the same verbs as one gateway', async (t) => {
  const { write, run } = await startEmpty(t)
  write(document('/one'))
  const nothing = await run(['history', '--group', 'edge'])
  assert.deepEqual([nothing.code, nothing.stdout.trim().split('\n').length], [0, 1])

  const first = await run(['deploy', 'gateway.yaml', '--group', 'edge', '--note', 'first'])
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^\+ route one$/m)
  assert.match(first.stdout, /^committed: deploy \d+ \([0-9a-f]{12}\); the group has no gateways yet$/m)

  const again = await run(['deploy', 'gateway.yaml', '--group', 'edge'])
  assert.match(again.stdout, /^unchanged: /m)

  write(document('/two'))
  for (const args of [
    ['diff', '-c', 'gateway.yaml'],
    ['diff', 'gateway.yaml', '--exit-code'],
    ['deploy', 'gateway.yaml', '--dry-run'],
  ]) {
    const shown = await run([...args, '--group', 'edge'])
    assert.match(shown.stdout, /^~ route one\n {4}match.*\/one.* -> .*\/two/m, shown.stderr)
    assert.equal(shown.code, args.includes('--exit-code') ? 2 : 0)
  }
  const second = await run(['deploy', 'gateway.yaml', '--group', 'edge', '-o', 'json'])
  const { result, deploy } = JSON.parse(second.stdout) as { readonly result: string; readonly deploy: number }
  assert.equal(result, 'committed')

  const history = await run(['history', '--group', 'edge', '-o', 'json'])
  const { deploys } = JSON.parse(history.stdout) as {
    readonly deploys: readonly { readonly deploy: number; readonly note: string }[]
  }
  assert.deepEqual(
    deploys.map(({ note }) => note),
    ['', 'first'],
  )
  const between = await run([
    'diff',
    '--group',
    'edge',
    '--from',
    String(deploys[1]!.deploy),
    '--to',
    String(deploy),
  ])
  assert.match(between.stdout, /^~ route one$/m)

  const planned = await run(['rollback', '--group', 'edge', '--dry-run'])
  assert.match(planned.stdout, /^~ route one\n {4}match.*\/two.* -> .*\/one/m, planned.stderr)
  assert.equal((await run(['show', '--group', 'edge'])).stdout, document('/two'))
  const rolledBack = await run(['rollback', '--group', 'edge', '--to', String(deploys[1]!.deploy)])
  assert.equal(rolledBack.code, 0, rolledBack.stderr)
  assert.equal((await run(['show', '--group', 'edge'])).stdout, document('/one'))
  assert.match(rolledBack.stderr, /^rollback to deploy \d+ of 20\S+ by \S+/)
  assert.equal((await run(['show', String(deploy), '--group', 'edge'])).stdout, document('/two'))
  const repeated = await run(['rollback', '--group', 'edge'])
  assert.match(
    repeated.stderr,
    /^the group 'edge' has no earlier deploy that was not rolled back; see gw history/,
  )
  assert.equal(repeated.code, 1)
  const named = await run(['rollback', '--group', 'edge', '--to', String(deploy)])
  assert.match(named.stderr, /^warning: deploy \d+ was rolled back before$/m)
  assert.equal((await run(['show', '--group', 'edge'])).stdout, document('/two'))
})

test('a dry run tells what the changed routes cost per request', async (t) => {
  const { write, run } = await startEmpty(t)
  write(
    document(
      '/one',
      '    policies: [{ use: header, with: { request: { set: { x-a: b } } } }, { use: ip-filter, with: { allow: [10.0.0.0/8] } }, { use: cors, with: { origins: [https://a.org] } }]\n',
    ),
  )
  const args = ['deploy', 'gateway.yaml', '--group', 'edge', '--dry-run']
  const { stdout, stderr } = await run(args)
  assert.match(
    stdout,
    /^ {4}cost: \+1\.8 µs per request \(header 0\.4, ip-filter 1\.4, cors not measured\)\n(?:.*\n)*cost per request: \+1\.8 µs in 1 route, and the cost of cors is unknown; measured on AMD EPYC, \S+\nvalid: /m,
    stderr,
  )
  const json = JSON.parse((await run([...args, '-o', 'json'])).stdout)
  const { measuredOn: _, ...total } = json.cost
  assert.deepEqual(total, { routes: 1, addedMicros: 1.8, unmeasured: ['cors'] })
})

test('the files of a document travel with it, but neither secrets nor folders do', async (t) => {
  const { folder, write, run } = await startEmpty(t)
  const withPolicy = (file: string): string =>
    document('/one', `    policies: [{ use: json-schema, with: { schema: { file: ${file} } } }]\n`)
  mkdirSync(join(folder, 'schemas'))
  writeFileSync(join(folder, 'schemas/order.json'), '{"type":"object"}')
  write(withPolicy('./schemas/order.json'))
  const deployed = await run(['deploy', 'gateway.yaml', '--group', 'edge'])
  assert.equal(deployed.code, 0, deployed.stderr)
  assert.equal(
    (await run(['show', '--group', 'edge', '--files'])).stdout,
    'gateway.yaml\nschemas/order.json\n',
  )
  const file = await run(['show', '--group', 'edge', '--file', 'schemas/order.json'])
  assert.equal(file.stdout, '{"type":"object"}')

  const refused: readonly (readonly [string, RegExp])[] = [
    [withPolicy('schemas'), /names 'schemas', which is not a regular file/],
    [withPolicy('missing.json'), /names 'missing.json', which does not exist here/],
    [withPolicy('../other.json'), /the path "\.\.\/other.json" is invalid|which does not exist here/],
    [document('/one', 'log: { file: { dir: log } }\n'), /names 'log', which does not exist here/],
    [
      document(
        '/one',
        '    policies: [{ use: basic-auth, with: { users: [{ name: a, password: Zq7-secret }] } }]\n',
      ),
      /routes\[0\]\.policies\[0\]\.with\.users\[0\]\.password' is a plaintext secret/,
    ],
  ]
  for (const [text, reason] of refused) {
    write(text)
    const { code, stderr } = await run(['deploy', 'gateway.yaml', '--group', 'edge'])
    assert.equal(code, 3, stderr)
    assert.match(stderr, reason)
  }
  assert.equal(
    (await run(['history', '--group', 'edge', '-o', 'json'])).stdout.match(/"deploy":/g)?.length,
    1,
  )
})

test('tokens are created, limited to a role and groups, and revoked', async (t) => {
  const { write, run } = await startEmpty(t)
  write(document('/one'))
  const create = async (name: string, ...args: readonly string[]): Promise<string> => {
    const { code, stdout, stderr } = await run(['control', 'token', 'create', name, ...args])
    assert.equal(code, 0, stderr)
    return stdout.trim()
  }
  const viewer = await create('viewer', '--role', 'viewer')
  const deployer = await create('deployer', '--role', 'deployer', '--group', 'edge-*')
  const deploy = (group: string, token: string) =>
    run(['deploy', 'gateway.yaml', '--group', group], { token })
  assert.equal((await deploy('edge-eu', viewer)).code, 4)
  assert.equal((await deploy('other', deployer)).code, 4)
  assert.equal((await deploy('edge-eu', deployer)).code, 0)
  assert.match((await run(['control', 'groups'], { token: viewer })).stdout, /^edge-eu +\d+ +0 +0 +0/m)
  assert.equal((await run(['control', 'token', 'list'], { token: deployer })).code, 4)

  const missing = await run(['control', 'token', 'create', 'x'])
  assert.deepEqual(
    [missing.code, missing.stderr.trim()],
    [64, 'the role is missing: set --role to viewer, deployer, admin or member'],
  )
  assert.equal((await run(['control', 'token', 'revoke', 'deployer'])).code, 0)
  assert.equal((await deploy('edge-eu', deployer)).code, 4)
  const { stdout } = await run(['control', 'audit', '-o', 'wide'])
  assert.match(stdout, /deploy.started +deployer +127\.0\.0\.1 .*group=edge-eu/)
  assert.match(stdout, /token.revoked +admin +127\.0\.0\.1/)
  assert.ok(![viewer, deployer].some((token) => stdout.includes(token)))
})

test('a team deploys its fragments below its paths, and the controller composes the document', async (t) => {
  const { folder, run } = await startEmpty(t)
  mkdirSync(join(folder, 'fragments/payments'), { recursive: true })
  const fragment = (path: string): void =>
    writeFileSync(
      join(folder, 'fragments/payments/a.yaml'),
      `routes:\n  - id: payments-a\n    match: { path: '${path}' }\n    respond: { status: 200 }\n`,
    )
  writeFileSync(join(folder, 'base.yaml'), document('/one'))
  fragment('/payments')
  const first = await run(['deploy', '.', '--group', 'edge'])
  assert.equal(first.code, 0, first.stderr)
  assert.match(first.stdout, /^\+ route payments-a$/m)
  const create = ['control', 'token', 'create', 'ci', '--role', 'deployer', '--team', 'payments']
  assert.equal((await run(create)).code, 64)
  const token = (await run([...create, '--routes', '/payments'])).stdout.trim()
  assert.match((await run(['control', 'token', 'list'])).stdout, /^ci +deployer +\* +payments: \/payments /m)

  const args = ['fragments/payments', '--group', 'edge', '--team', 'payments']
  fragment('/shop')
  const outside = await run(['deploy', ...args], { token })
  assert.equal(outside.code, 3, outside.stderr)
  assert.match(outside.stderr, /^fragments\/payments\/a.yaml:3:\d+: the path '\/shop' is outside/m)
  fragment('/payments/{id}')
  assert.match((await run(['diff', ...args], { token })).stdout, /^~ route payments-a$/m)
  assert.equal((await run(['deploy', 'base.yaml', '--group', 'edge'], { token })).code, 4)
  const second = await run(['deploy', ...args], { token })
  assert.equal(second.code, 0, second.stderr)
  const files = await run(['show', '--group', 'edge', '--files'])
  assert.equal(files.stdout, 'gateway.yaml\nbase.yaml\nfragments/payments/a.yaml\n')
  assert.equal((await run(['rollback', '--group', 'edge'], { token })).code, 0)
  assert.match((await run(['show', '--group', 'edge'])).stdout, /path: \/payments$/m)
  symlinkSync('/etc/passwd', join(folder, 'fragments/payments/b.yaml'))
  assert.match((await run(['deploy', ...args], { token })).stderr, /b.yaml is not a regular file/)
})

test('a missing controller and wrong options have clear messages', async (t) => {
  const { run, write } = await startEmpty(t)
  write(document('/one'))
  const cases: readonly (readonly [readonly string[], number, RegExp])[] = [
    [['fleet', '--server', 'http://127.0.0.1:1'], 5, /cannot reach the controller at .*GW_CONTROL_SERVER/],
    [['show'], 64, /the group is missing/],
    [
      ['history', '--group', 'edge', '--kubernetes'],
      64,
      /'--group <name>' cannot be used with option '--kubernetes'/,
    ],
    [['deploy', 'gateway.yaml', '--group', 'edge', '--quorum', '120%'], 64, /use for example 50%/],
    [['deploy', 'gateway.yaml', '--group', 'edge', '--save'], 64, /--save is for a single gateway/],
    [['deploy', 'gateway.yaml', '--canary', '1'], 64, /--canary needs --group/],
    [['deploy', '--abort'], 64, /--abort needs --group/],
    [['deploy', '--group', 'edge', '--abort'], 1, /no deploy of the group 'edge' is pending/],
    [['deploy', 'gateway.yaml', '--group', 'edge', '--for', '5m'], 64, /--for needs --canary/],
    [['deploy', 'gateway.yaml', '--group', 'edge', '--canary', '0'], 64, /for example 1 or 10%/],
    [['deploy', 'gateway.yaml', '--group', 'edge', '--canary', '1'], 1, /deploy without a canary first/],
    [
      ['deploy', 'gateway.yaml', '--group', 'edge', '--canary', '1', '--abort-on', 'p99 > 2x || p95 > 1'],
      1,
      /'p95 > 1' is not a condition/,
    ],
    [['diff', '--group', 'edge'], 1, /has no deploys|there is no deploy/],
    [['rollback', '--group', 'edge', '--to', 'x'], 64, /'x' is not the number of a deploy/],
    [['deploy', 'gateway.yaml', '--group', 'Edge EU'], 1, /answered 400/],
  ]
  for (const [args, code, reason] of cases) {
    const outcome = await run(args)
    assert.match(outcome.stderr, reason, args.join(' '))
    assert.equal(outcome.code, code, args.join(' '))
  }
  const options = await run(['control', 'start', '--listen', 'nowhere'])
  assert.match(options.stderr, /'nowhere' is not an address/)
  const unsafe = await run(['control', 'start', '--listen', '0.0.0.0:0', '--store', 'other'])
  assert.match(unsafe.stderr, /0\.0\.0\.0 is not loopback; set a certificate/)
})
