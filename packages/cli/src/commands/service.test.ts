import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { unitText } from '../service/unit.js'
import { gw, type Outcome, scratch } from '../testing.js'
import { install } from './service.js'

const SHIPPED = new URL('../../../../deploy/systemd/sluice.service', import.meta.url)
const FACTS = {
  user: 'sluice',
  name: 'sluice',
  command: '/usr/local/bin/gw',
  document: '/etc/sluice/gateway.yaml',
}

interface Place {
  readonly root: string
  readonly unit: string
  readonly install: (...args: string[]) => Promise<Outcome>
  readonly uninstall: (...args: string[]) => Promise<Outcome>
}

function place(t: TestContext, name = 'sluice'): Place {
  const root = scratch(t)
  const run =
    (command: string) =>
    (...args: string[]) =>
      gw(['service', command, '--root', root, '--name', name, ...args])
  return {
    root,
    unit: join(root, `etc/systemd/system/${name}.service`),
    install: (...args) => run('install')('--gw', '/usr/local/bin/gw', ...args),
    uninstall: run('uninstall'),
  }
}

test('the unit in deploy/systemd is the one that is written', () => {
  const text = unitText(FACTS)
  if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(SHIPPED, text)
  assert.equal(readFileSync(SHIPPED, 'utf8'), text)
})

test('install writes the unit and says what is missing until it runs', async (t) => {
  const { unit, install } = place(t)
  const { code, stdout, stderr } = await install()
  assert.deepEqual([code, stderr], [0, ''])
  assert.equal(
    stdout,
    `wrote ${unit}
next:
  useradd --system --home-dir /var/lib/sluice --shell /usr/sbin/nologin sluice
  install -d -m 750 -o root -g sluice /etc/sluice
  install -m 640 -o root -g sluice gateway.yaml /etc/sluice/gateway.yaml
  systemctl daemon-reload
  systemctl enable --now sluice
`,
  )
  const text = readFileSync(unit, 'utf8')
  assert.match(text, /^ExecStart=(\/\S+ )?\/usr\/local\/bin\/gw start \/etc\/sluice\/gateway\.yaml$/m)
  assert.equal(statSync(unit).mode & 0o777, 0o644)
})

test('a unit that is there already is written again only when it differs, and what is done is not asked for', async (t) => {
  const { root, unit, install } = place(t, 'orders')
  mkdirSync(join(root, 'etc/orders'), { recursive: true })
  writeFileSync(join(root, 'etc/passwd'), 'root:x:0:0::/:\ngateway:x:999:999::/:\n')
  writeFileSync(join(root, 'etc/orders/gateway.yaml'), 'version: 1\n')
  await install('--user', 'gateway')
  const again = await install('--user', 'gateway')
  const steps = 'next:\n  systemctl daemon-reload\n  systemctl restart orders\n'
  assert.equal(again.stdout, `${unit} is up to date\n${steps}`)
  const moved = await install('--user', 'gateway', '/etc/orders/other.yaml')
  assert.match(
    moved.stdout,
    /^wrote .*\n.*\n {2}install -m 640 -o root -g gateway gateway\.yaml \/etc\/orders\/other\.yaml$/m,
  )
  const text = readFileSync(unit, 'utf8')
  assert.match(text, /^User=gateway\nGroup=gateway$/m)
  assert.match(text, /^StateDirectory=orders$/m)
})

test('what somebody has changed is kept without --force', async (t) => {
  const { unit, install, uninstall } = place(t)
  await install()
  const changed = `${readFileSync(unit, 'utf8')}# mine\n`
  writeFileSync(unit, changed)
  for (const refused of [await install(), await uninstall()]) {
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /was changed after gw wrote it/)
    assert.equal(readFileSync(unit, 'utf8'), changed)
  }
  assert.equal((await install('--force')).code, 0)
  assert.doesNotMatch(readFileSync(unit, 'utf8'), /# mine/)
})

test('a masked unit, which is a link, is neither followed nor replaced without --force', async (t) => {
  const { root, unit, install } = place(t)
  mkdirSync(join(root, 'etc/systemd/system'), { recursive: true })
  const elsewhere = join(root, 'elsewhere')
  writeFileSync(elsewhere, 'kept')
  symlinkSync(elsewhere, unit)
  assert.equal((await install()).code, 1)
  assert.equal((await install('--force')).code, 0)
  assert.equal(readFileSync(elsewhere, 'utf8'), 'kept')
})

test('--dry-run changes nothing and prints the unit', async (t) => {
  const { unit, install, uninstall } = place(t)
  const dry = await install('--dry-run')
  assert.match(dry.stdout, /^# Written by gw service install\..*\n\[Unit\]/)
  assert.equal(dry.stderr, `would write ${unit}\n`)
  assert.equal(statSync(unit, { throwIfNoEntry: false }), undefined)
  await install()
  assert.equal((await uninstall('--dry-run')).stderr, `would remove ${unit}\n`)
  assert.ok(statSync(unit))
})

test('uninstall removes the unit, but not of a service that is enabled', async (t) => {
  const { root, unit, install, uninstall } = place(t)
  await install()
  const wants = join(root, 'etc/systemd/system/multi-user.target.wants')
  mkdirSync(wants)
  symlinkSync(unit, join(wants, 'sluice.service'))
  const refused = await uninstall()
  assert.deepEqual([refused.code, refused.stderr.includes('systemctl disable --now sluice')], [1, true])
  const removed = await uninstall('--force')
  assert.match(removed.stdout, /^removed .*\nnext:\n {2}systemctl daemon-reload\nkept: /)
  assert.equal(statSync(unit, { throwIfNoEntry: false }), undefined)
  assert.match((await uninstall()).stdout, / does not exist\n/)
})

for (const [what, given, document, message] of [
  ['a name with a line break', { user: 'a\nExecStartPre=/bin/sh' }, undefined, /is not a valid name/],
  ['a name that is a path', { name: '../cron' }, undefined, /is not a valid name/],
  ['a document with a line break', {}, '/etc/a\nUser=root', /characters that systemd interprets/],
  ['a document with a specifier', {}, '/etc/%h/gateway.yaml', /characters that systemd interprets/],
  ['a document with a space', {}, '/etc/a b.yaml', /characters that systemd interprets/],
  ['a document in a home', {}, '/home/ann/gateway.yaml', /the service cannot access the document/],
  ['a gw in a home', { gw: '/home/ann/gw' }, undefined, /the service cannot access gw/],
] as const) {
  test(`${what} is refused`, (t) => {
    const { root, unit } = place(t)
    const options = { name: 'sluice', root, gw: '/usr/local/bin/gw', ...given }
    assert.throws(() => install(options, document), { exit: 64, message })
    assert.equal(statSync(unit, { throwIfNoEntry: false }), undefined)
  })
}

test('a gw that is a link to where the service cannot access it is refused', async (t) => {
  const folder = mkdtempSync('/dev/shm/gw-cli-')
  t.after(() => rmSync(folder, { recursive: true }))
  const link = join(folder, 'gw')
  symlinkSync('/tmp', link)
  assert.throws(
    () => install({ name: 'sluice', root: '/', gw: link, dryRun: true }, '/etc/sluice/gateway.yaml'),
    { exit: 64, message: /cannot access gw, as \/dev\/shm\/\S+, a link to \/tmp, because/ },
  )
})
