import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bundleOf, packChunks } from '@sluice/control-client'
import { type Answer, TestController } from '../testing/test-controller.js'

const BASE = `version: 1
listeners: [{ address: '127.0.0.1:0' }]
upstreams: { core: { targets: ['http://127.0.0.1:9'] } }
routes:
  - { id: everything, match: { path: /* }, respond: { status: 404 } }
  - { id: status, match: { path: /status }, respond: { status: 200 } }
`

/** Fragment with one route. */
function routeOf(id: string, path: string, more = 'respond: { status: 200 }'): string {
  return `routes:\n  - id: ${id}\n    match: { path: '${path}' }\n    ${more}\n`
}

type Files = Readonly<Record<string, string>>

interface Options {
  readonly part?: string
  readonly token?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly dryRun?: boolean
}

/** A controller with the group `edge`, its base, and tokens of two teams. */
async function startTeams(t: Parameters<typeof TestController.start>[0]) {
  const controller = await TestController.start(t)
  const teamToken = async (team: string, routes: readonly string[]): Promise<string> => {
    const body = { name: `ci-${team}`, role: 'deployer', groups: ['edge'], scope: { team, routes } }
    return (await controller.call('POST', '/v1/tokens', { body })).body.text
  }
  const deploy = async (
    files: Files,
    { part, token, headers = {}, dryRun }: Options = {},
  ): Promise<Answer> => {
    const { manifest, chunks } = bundleOf(
      new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)])),
      null,
    )
    const call = { headers, ...(token === undefined ? {} : { token }) }
    await controller.call('POST', '/v1/chunks', { ...call, body: packChunks([...chunks.values()]) })
    const body = { manifest, ...(part === undefined ? {} : { part }), ...(dryRun ? { dryRun } : {}) }
    return controller.call('POST', '/v1/groups/edge/deploys', { ...call, body })
  }
  const pay = await teamToken('pay', ['/payments', '/v2/payments'])
  const shop = await teamToken('shop', ['/shop'])
  const first = await deploy({ 'base.yaml': BASE }, { part: 'base' })
  assert.equal(first.status, 200, JSON.stringify(first.body))
  const asPay = (text: string, more: Options & { readonly files?: Files } = {}) =>
    deploy({ 'fragments/pay/a.yaml': text, ...more.files }, { part: 'pay', token: pay, ...more })
  const asShop = (text: string) => deploy({ 'fragments/shop/a.yaml': text }, { part: 'shop', token: shop })
  const document = async (): Promise<string> => {
    const { head } = (await controller.call('GET', '/v1/groups/edge')).body
    return (await controller.call('GET', `/v1/groups/edge/deploys/${head!.deploy}/files/gateway.yaml`)).text
  }
  return { controller, deploy, asPay, asShop, document, pay, shop, first: first.body }
}

test('the document is composed of base and the fragments of teams, and members get only the document', async (t) => {
  const { controller, deploy, asPay, asShop, document } = await startTeams(t)
  const member = await controller.member({ group: 'edge' })
  const own = `${routeOf('pay-refunds', '/payments/{id}/refunds', 'upstream: pay-api')}upstreams: { pay-api: { targets: ['http://127.0.0.1:9'] } }\n`
  assert.equal((await asPay(own)).body.result, 'committed')
  const second = await asShop(routeOf('shop-cart', '/shop/*', 'upstream: core'))
  assert.equal(second.body.result, 'committed', JSON.stringify(second.body))
  const text = await document()
  for (const part of ['id: everything', 'id: pay-refunds', 'pay-api:', 'id: shop-cart'])
    assert.ok(text.includes(part))
  const bundle = `/v1/groups/edge/deploys/${second.body.deploy}`
  const paths = async (query: string) =>
    (await controller.call('GET', `${bundle}/manifest${query}`)).body.files.map(({ path }) => path)
  assert.deepEqual(await paths(''), ['gateway.yaml'])
  assert.deepEqual(await paths('?source=true'), [
    'base.yaml',
    'fragments/pay/a.yaml',
    'fragments/shop/a.yaml',
  ])
  assert.equal((await controller.call('GET', `${bundle}/files/fragments/pay/a.yaml`)).text, own)
  assert.equal(member.digest, second.body.digest)
  // A new base keeps the fragments. A comment changes the source, but not the document.
  assert.equal(
    (await deploy({ 'base.yaml': `${BASE}# new\n` }, { part: 'base' })).body.digest,
    second.body.digest,
  )
  assert.equal(await document(), text)
  assert.equal((await deploy({ 'gateway.yaml': BASE })).status, 400)
})

test('a scoped token changes only the fragments of its team', async (t) => {
  const { controller, deploy, pay, shop, first } = await startTeams(t)
  const route = routeOf('pay-a', '/payments')
  const admin = await deploy({ 'base.yaml': BASE, 'fragments/pay/a.yaml': route })
  assert.equal(admin.body.result, 'committed', JSON.stringify(admin.body))
  const refused: readonly (readonly [Files, string | undefined, number])[] = [
    [{ 'gateway.yaml': BASE }, undefined, 403],
    [{ 'base.yaml': BASE }, undefined, 403],
    [{ 'base.yaml': BASE }, 'base', 403],
    [{ 'fragments/pay/a.yaml': route }, undefined, 403],
    [{ 'fragments/shop/a.yaml': route }, 'shop', 403],
    [{ 'fragments/shop/a.yaml': route }, 'pay', 400],
    [{ 'base.yaml': BASE, 'fragments/pay/a.yaml': route }, 'pay', 400],
    [{ 'gateway.yaml': BASE, 'fragments/pay/a.yaml': route }, 'pay', 400],
  ]
  for (const [files, part, status] of refused) {
    const answer = await deploy(files, { token: pay, ...(part === undefined ? {} : { part }) })
    assert.equal(answer.status, status, `${JSON.stringify(answer.body)} ${part}`)
  }
  const abort = await controller.call('POST', '/v1/groups/edge/abort', { token: pay, body: {} })
  assert.deepEqual([abort.status, abort.body.code], [403, 'GW_CONTROL_TEAM_REFUSED'])
  const rollback = (token: string, to: number) =>
    controller.call('POST', '/v1/groups/edge/rollback', { token, body: { to } })
  assert.equal((await rollback(shop, first.deploy)).body.code, 'GW_CONTROL_TEAM_REFUSED')
  assert.equal((await rollback(pay, first.deploy)).body.result, 'committed')
  for (const scope of [
    { team: 'base', routes: ['/a'] },
    { team: 'a-b', routes: ['/a'] },
    { team: 'a', routes: [] },
  ])
    assert.equal((await token(controller, scope)).status, 400, JSON.stringify(scope))
  for (const routes of ['/', '/a/', '/a/*', '/{a}', '~/a', '/a/../b', 'a', '/a;b'])
    assert.equal((await token(controller, { team: 'a', routes: [routes] })).status, 400, routes)
  assert.equal((await token(controller, { team: 'a', routes: ['/a'] }, 'admin')).status, 400)
})

function token(controller: TestController, scope: object, role = 'deployer'): Promise<Answer> {
  return controller.call('POST', '/v1/tokens', { body: { name: 'x', role, groups: ['*'], scope } })
}

test('paths of files that an attacker would send are refused', async (t) => {
  const { controller, asPay, pay } = await startTeams(t)
  const { manifest } = bundleOf(new Map([['fragments/pay/a.yaml', Buffer.from('routes: []\n')]]), null)
  await asPay('routes: []\n')
  const [file] = manifest.files
  const send = (...paths: readonly string[]) => {
    const files = paths.map((path) => ({ ...file, path }))
    const body = { part: 'pay', manifest: { version: 1, files } }
    return controller.call('POST', '/v1/groups/edge/deploys', { token: pay, body })
  }
  const many = Array.from({ length: 3000 }, (_, i) => `fragments/pay/${String(i).padStart(4, '0')}.yaml`)
  const attacks: readonly (readonly string[])[] = [
    ['fragments/pay/../shop/a.yaml'],
    ['../a.yaml'],
    ['/fragments/pay/a.yaml'],
    ['fragments//pay/a.yaml'],
    ['fragments/pay/./a.yaml'],
    ['fragments/pay/.a.yaml'],
    ['fragments\\pay\\a.yaml'],
    ['fragments/pay/..\\shop\\a.yaml'],
    ['fragments/pay/a.yaml\0'],
    ['fragments/pay/%2e%2e/a.yaml'],
    ['fragments/Pay/a.yaml'],
    ['Fragments/pay/a.yaml'],
    ['fragments/pay/A.yaml', 'fragments/pay/a.yaml'],
    ['fragments/pаy/a.yaml'], // Cyrillic а
    ['fragments/pay'],
    ['fragments/pay/a.yml'],
    ['fragments/pay/a.yaml/b.yaml', 'fragments/pay/a.yaml'],
    ['fragments/a.yaml'],
    ['base.yaml'],
    [`fragments/pay/${'a'.repeat(300)}.yaml`],
    many,
  ]
  for (const paths of attacks) assert.equal((await send(...paths)).status, 400, paths[0])
  assert.equal((await send('fragments/pay/b.yaml')).status, 200)
})

test('routes outside of the prefixes, and everything that is not of the team, are refused with file and line', async (t) => {
  const { asPay, asShop, document } = await startTeams(t)
  assert.equal(
    (
      await asShop(
        `${routeOf('shop-a', '/shop')}upstreams: { shop-up: { targets: ['http://127.0.0.1:9'] } }\n`,
      )
    ).status,
    200,
  )
  const before = await document()
  const path = (text: string): string => routeOf('pay-a', text)
  const more = (text: string): string => routeOf('pay-a', '/payments', text)
  const policy = (text: string): string => more(`respond: {}\n    policies: [${text}]`)
  const attacks: readonly (readonly [text: string, line: number, reason: RegExp])[] = [
    [path('/paymentsx'), 3, /outside of the paths of the team pay/],
    [path('/Payments'), 3, /outside/],
    [path('/shop/x'), 3, /outside/],
    [path('/v2/{name}'), 3, /outside/],
    [path('/*'), 3, /does not start with a literal segment/],
    [path('/{name}/a'), 3, /does not start with a literal/],
    [path('~^/payments'), 3, /does not start with a literal/],
    [path('/payments/../shop'), 3, /not in canonical form/],
    [path('/payments/%2e%2e/shop'), 3, /not in canonical form/],
    [path('//payments'), 3, /not in canonical form/],
    [path('/payments;/../shop'), 3, /canonical|;/],
    [path('${env:PAY_PATH}'), 3, /references are not allowed in match/],
    ['routes:\n  - id: pay-a\n    respond: {}\n', 2, /has no path/],
    ['routes:\n  - id: pay-a\n    match: { hosts: [pay.example.com] }\n    respond: {}\n', 3, /has no path/],
    [routeOf('shop-b', '/payments'), 2, /does not start with 'pay-'/],
    [routeOf("'pay-${env:PAY_A}'", '/payments'), 2, /does not start with 'pay-'/],
    [routeOf('payments', '/payments'), 2, /does not start with 'pay-'/],
    [more('upstream: shop-up'), 4, /'shop-up' is neither in base nor in the team pay/],
    [more("upstream: '${env:PAY_UP}'"), 4, /is neither in base/],
    [more('respond: {}\n    priority: 1000'), 5, /'priority' is not allowed/],
    ['upstreams:\n  core: { targets: [] }\n', 2, /does not start with 'pay-'/],
    ['upstreams:\n  __proto__: {}\n', 2, /__proto__/],
    [
      'upstreams:\n  pay-a: { targets: [https://a], tls: { keyFile: /etc/key.pem } }\n',
      2,
      /'\/etc\/key.pem' is neither/,
    ],
    [
      'upstreams:\n  pay-a: { targets: [https://a], tls: { caFile: ../../ca.pem } }\n',
      2,
      /neither in base nor/,
    ],
    [
      'upstreams:\n  pay-a: { targets: [https://a], tls: { caFile: fragments/shop/a.yaml } }\n',
      2,
      /neither in base nor/,
    ],
    [policy('{ id: core, use: cors }'), 5, /does not start with 'pay-'/],
    [policy('{ use: plugin-policy }'), 5, /not a built-in policy/],
    [policy("{ use: '${env:PAY_USE}' }"), 5, /not a built-in policy/],
    [policy('{ use: cors, when: \'env.DB_PASSWORD.startsWith("a")\' }'), 5, /variables that start with PAY_/],
    [policy('{ use: cors, when: \'[env].exists(e, e.A == "a")\' }'), 5, /variables that start with PAY_/],
    [
      policy('{ use: cors, when: \'en${env:PAY_X:-v}.DB_PASSWORD == "a"\' }'),
      5,
      /variables that start with PAY_/,
    ],
    [policy("{ use: cors, when: '0-env.DB_PASSWORD.size() == 1' }"), 5, /variables that start with PAY_/],
    [policy('{ use: cors, when: "// a\\nenv.DB_PASSWORD == \'a\'" }'), 5, /variables that start with PAY_/],
    [more("respond: { body: '/{{ env.DB_PASSWORD }}' }"), 4, /variables that start with PAY_/],
    [more("respond: { body: '${env:PAYROLL}' }"), 4, /variables that start with PAY_/],
    [more("respond: { body: '${file:/etc/passwd}' }"), 4, /variables that start with PAY_/],
    [more("respond: { body: '${vault:a/b#c}' }"), 4, /variables that start with PAY_/],
    ...[
      'listeners',
      'admin',
      'log',
      'plugins',
      'policies',
      'policyGroups',
      'control',
      'state',
      'version',
    ].map(
      (key) => [`routes: []\n${key}: []\n`, 2, new RegExp(`'${key}' is not allowed in fragments`)] as const,
    ),
    ['- a\n', 1, /must be an object/],
    ['routes: [1]\n', 1, /must be an object/],
    ['routes: [\n', 2, /./],
    // Found by the check of the composed document.
    [more('respondd: {}'), 4, /respondd/],
    [policy('{ use: cors, with: { origin: 5 } }'), 5, /origin/],
  ]
  for (const [text, line, reason] of attacks) {
    const { status, body } = await asPay(text)
    assert.equal(status, 422, `${text} ${JSON.stringify(body)}`)
    const found = body.diagnostics.find(({ message }) => reason.test(message))
    assert.ok(found, `${text} ${JSON.stringify(body.diagnostics)}`)
    assert.deepEqual([found.file, found.line], ['fragments/pay/a.yaml', line], text)
  }
  assert.equal(await document(), before)
  const spec = { 'fragments/pay/files/order.json': '{}' }
  const valid = policy(
    '{ use: json-schema, with: { schema: { file: fragments/pay/files/order.json } }, when: \'env.PAY_STAGE == "x"\' }',
  )
  const { status, body } = await asPay(valid, { files: spec })
  assert.equal(status, 200, JSON.stringify(body))
})

test('conflicts name both owners', async (t) => {
  const { deploy, asPay, asShop } = await startTeams(t)
  const admin = (pay: string, base = BASE) =>
    deploy({
      'base.yaml': base,
      'fragments/pay/a.yaml': pay,
      'fragments/shop/a.yaml': routeOf('shop-a', '/shop/{id}'),
    })
  const shown = ({ status, body }: Answer): string => {
    assert.equal(status, 422, JSON.stringify(body))
    const { file, line, message } = body.diagnostics[0]!
    return `${file}:${line} ${message}`
  }
  assert.match(
    shown(await admin(routeOf('pay-a', '/shop/new'))),
    /^fragments\/shop\/a.yaml:3 .*'shop-a' of shop matches requests of the route 'pay-a' of pay \(fragments\/pay\/a.yaml:3\)/,
  )
  assert.match(
    shown(await admin(routeOf('pay-a', '/status'))),
    /'pay-a' of pay matches requests of the route 'status' of base/,
  )
  assert.match(
    shown(await admin(routeOf('pay-status', '/payments'), BASE.replace('id: status', 'id: pay-status'))),
    /'pay-status' of pay has the same name as the route 'pay-status' of base \(base.yaml:6\)/,
  )
  const guard = BASE.replace('/status', "'~^/payments/(admin|internal)(/|$)'")
  assert.match(
    shown(await admin(routeOf('pay-a', '/payments/*'), guard)),
    /'pay-a' of pay matches requests of the route 'status' of base/,
  )
  const other = BASE.replace('/status', '/payments/{any}')
  assert.equal((await asPay(routeOf('pay-a', '/payments/*'))).status, 200)
  assert.match(
    shown(await deploy({ 'base.yaml': other }, { part: 'base' })),
    /^base.yaml:6 .*'status' of base .*'pay-a' of pay/,
  )
  // Other hosts and methods are no conflict.
  const apart = 'routes:\n  - id: shop-a\n    match: { path: /shop, methods: [POST] }\n    respond: {}\n'
  assert.equal((await asShop(apart)).status, 200)
  const shop = (match: string) =>
    deploy(
      {
        'base.yaml': BASE,
        'fragments/pay/a.yaml': `routes:\n  - id: pay-a\n    match: { path: /shop/*, ${match} }\n    respond: {}\n`,
        'fragments/shop/a.yaml': apart,
      },
      { dryRun: true },
    )
  assert.equal((await shop('methods: [GET]')).status, 200)
  assert.match(shown(await shop('methods: [POST], hosts: [a.example.com]')), /shop-a/)
})

test('two teams that deploy at once both land, and one team does not overwrite its own newer deploy', async (t) => {
  const { controller, asPay, asShop, document, pay, first } = await startTeams(t)
  const retried = async (send: () => Promise<Answer>): Promise<Answer> => {
    for (;;) {
      const answer = await send()
      if (answer.body.code !== 'GW_CONTROL_DEPLOYING') return answer
    }
  }
  const etag = (await controller.call('GET', '/v1/groups/edge')).headers.get('etag')!
  const answers = await Promise.all([
    retried(() => asPay(routeOf('pay-a', '/payments'), { headers: { 'if-match': etag } })),
    retried(() => asShop(routeOf('shop-a', '/shop'))),
  ])
  for (const { body } of answers) assert.equal(body.result, 'committed', JSON.stringify(body))
  const text = await document()
  assert.ok(text.includes('id: pay-a') && text.includes('id: shop-a'))
  const stale = await asPay(routeOf('pay-b', '/payments'), { headers: { 'if-match': etag } })
  assert.deepEqual([stale.status, stale.body.code], [412, 'GW_CONTROL_STALE'])
  // Neither does it roll back the deploy of another team.
  const rollback = { token: pay, body: { to: first.deploy } }
  assert.equal((await controller.call('POST', '/v1/groups/edge/rollback', rollback)).status, 403)
})
