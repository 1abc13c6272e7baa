import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { type TestContext, test } from 'node:test'
import type { KeyPairPlan, Plan } from '@sluice/config'
import { certificateFiles, tlsPlan } from '../../listen/testing/certificate-files.js'
import type { Sample } from '../../telemetry/sample.js'
import { FAKE_ADMIN, fakeListener } from '../testing/fake-plan.js'
import { CertificateWatch } from './certificate-watch.js'

type Watched = Pick<Plan, 'listeners' | 'admin' | 'upstreams'>

function planOf(tls: KeyPairPlan, more: Partial<Watched> = {}): Plan {
  const listeners = [{ ...fakeListener(1), tls: tlsPlan(tls) }]
  return { listeners, admin: FAKE_ADMIN, upstreams: [], ...more } as unknown as Plan
}

function watched(t: TestContext, plan: () => Plan | null) {
  const logged: [string, unknown][] = []
  const watch = new CertificateWatch(plan, { warn: (event, fields) => void logged.push([event, fields]) })
  t.after(() => watch.close())
  const numberOf = (name: string): number | undefined =>
    watch.samples().find((sample: Sample) => sample.name === name)?.value
  return { watch, logged, numberOf }
}

/** Writes a certificate to the files that expires after this many days. */
function sign({ certFile, keyFile }: KeyPairPlan, days: number): void {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', keyFile]
  const command = ['req', '-x509', ...key, '-out', certFile, '-days', String(days), '-subj', '/CN=a']
  assert.equal(spawnSync('openssl', command).status, 0)
}

test('a certificate with long validity is a metric without a warning', (t) => {
  const plan = planOf(certificateFiles(t))
  const { watch, logged, numberOf } = watched(t, () => plan)
  assert.deepEqual([watch.warnings(), logged], [[], []])
  assert.ok(numberOf('gw_certificate_expires_seconds')! > 86_400 * 365)
  assert.equal(numberOf('gw_certificate_broken'), 0)
})

test('a certificate that expires within 30 days is in the status and once in the operation log', (t) => {
  const files = certificateFiles(t)
  sign(files, 10)
  const plan = planOf(files)
  const { watch, logged } = watched(t, () => plan)
  for (let i = 0; i < 2; i++) assert.match(watch.warnings().join(), /cert\.pem: expires on .*, in \d+ days/)
  assert.deepEqual(
    logged.map(([event, fields]) => [event, (fields as { file: string }).file]),
    [['certificate.expires', files.certFile]],
  )
})

const DAMAGES: readonly [string, RegExp, (files: KeyPairPlan) => void][] = [
  ['is missing', /ENOENT/, ({ certFile }) => rmSync(certFile)],
  ['is no certificate', /cannot be used/, ({ certFile }) => writeFileSync(certFile, 'nothing')],
  [
    'has another key',
    /the key in .*key\.pem does not belong to this certificate/,
    ({ keyFile }) => sign({ certFile: '/dev/null', keyFile }, 1),
  ],
]

for (const [how, why, damage] of DAMAGES) {
  test(`a certificate file that ${how} is reported as broken with its name`, (t) => {
    const files = certificateFiles(t)
    damage(files)
    const plan = planOf(files)
    const { watch, logged, numberOf } = watched(t, () => plan)
    assert.match(watch.warnings().join(), why)
    assert.match(watch.warnings().join(), /cert\.pem/)
    assert.equal(logged[0]?.[0], 'certificate.broken')
    assert.equal(numberOf('gw_certificate_broken'), 1)
    assert.equal(numberOf('gw_certificate_expires_seconds'), undefined)
  })
}

test('SNI certificates and those of the admin API and upstreams are watched too', (t) => {
  const [own, named, admin, client] = [1, 2, 3, 4].map(() => certificateFiles(t)) as [
    KeyPairPlan,
    KeyPairPlan,
    KeyPairPlan,
    KeyPairPlan,
  ]
  const certificates = [{ ...named, serverNames: ['a'] }]
  const plan = planOf(own, {
    listeners: [{ ...fakeListener(1), tls: tlsPlan(own, { certificates }) }],
    admin: { ...FAKE_ADMIN, tls: admin },
    upstreams: [{ tls: client }, { tls: null }] as unknown as Plan['upstreams'],
  })
  const { watch } = watched(t, () => plan)
  const files = watch.samples().filter(({ name }) => name === 'gw_certificate_expires_seconds')
  for (const { certFile } of [own, named, admin, client])
    assert.ok(files.some(({ labels }) => labels.includes(certFile)))
})

test('a changed plan is watched with its certificates at once', (t) => {
  const good = planOf(certificateFiles(t))
  const files = certificateFiles(t)
  rmSync(files.keyFile)
  let plan = good
  const { watch } = watched(t, () => plan)
  assert.deepEqual(watch.warnings(), [])
  plan = planOf(files)
  assert.equal(watch.warnings().length, 1)
  plan = good
  assert.deepEqual(watch.warnings(), [])
})

test('references are resolved, and an unresolvable one keeps the last known state', (t) => {
  let resolve = (): null => null
  const plan = {} as never
  const watch = new CertificateWatch(
    () => plan,
    { warn: () => {} },
    () => resolve(),
  )
  t.after(() => watch.close())
  assert.deepEqual(watch.warnings(), [])
  resolve = () => {
    throw new Error('the file is gone')
  }
  assert.deepEqual(watch.warnings(), [])
})
