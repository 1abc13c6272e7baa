import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { provideNamed } from './services.mjs'

/** Refuses one package, as apt-get does where it conflicts with another, and notes the rest. */
const APT_GET = `#!/bin/sh
for last; do :; done
[ "$last" = kubernetes-client ] && exit 100
echo "$last" >> "$(dirname "$0")/installed"
`

test('a Debian package that cannot be installed keeps away no other', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-services-'))
  t.after(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'apt-get'), APT_GET, { mode: 0o755 })
  for (const name of ['sh', 'dirname']) symlinkSync(`/bin/${name}`, join(folder, name))
  t.mock.method(process, 'getuid', () => 0)
  const { PATH } = process.env
  t.after(() => Object.assign(process.env, { PATH }))
  process.env.PATH = folder
  const [problem] = provideNamed(['kubernetes'])
  assert.match(problem, /^kubernetes is missing .*apt-get install golang-go kubernetes-client/)
  const installed = readFileSync(join(folder, 'installed'), 'utf8').split('\n')
  for (const name of ['golang-go', 'etcd-server', 'containerd', 'iptables'])
    assert.ok(installed.includes(name), name)
})
