import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { readCertificates, readTlsFiles } from './pem-files.js'

test('an error of a TLS file names the key of the document and the file', (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'pem-'))
  t.after(() => rmSync(dir, { recursive: true }))
  const file = (name: string): string => join(dir, name)
  for (const name of ['a', 'b']) {
    const how = ['-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '1', '-subj', '/CN=localhost']
    const files = ['-keyout', file(`${name}.key`), '-out', file(`${name}.pem`)]
    assert.equal(spawnSync('openssl', ['req', ...how, ...files]).status, 0)
  }
  writeFileSync(file('empty.pem'), '')
  const [certFile, keyFile] = [file('a.pem'), file('a.key')]
  const [empty, none] = [file('empty.pem'), file('none.pem')]
  const { cert, key, ca } = readTlsFiles({ certFile, keyFile, caFile: null })
  assert.deepEqual([cert?.length !== 0, key?.length !== 0, ca], [true, true, undefined])
  const cases: readonly (readonly [Parameters<typeof readTlsFiles>[0], string])[] = [
    [{ certFile: none }, `admin.tls.certFile '${none}' cannot be read: there is no such file`],
    [{ caFile: dir }, `admin.tls.caFile '${dir}' cannot be read: it is a directory`],
    [{ caFile: empty }, `admin.tls.caFile '${empty}' contains no certificate in PEM format`],
    [{ certFile: keyFile }, `admin.tls.certFile '${keyFile}' contains no certificate in PEM format`],
    [
      { keyFile: certFile },
      `admin.tls.keyFile '${certFile}' contains no unencrypted private key in PEM format`,
    ],
    [
      { certFile, keyFile: file('b.key') },
      `admin.tls.keyFile '${file('b.key')}' is not the key of the first certificate in admin.tls.certFile '${certFile}'`,
    ],
  ]
  for (const [files, message] of cases) assert.throws(() => readTlsFiles(files, 'admin.tls'), { message })
  assert.throws(
    () => readCertificates(empty, 'tls.clientCaFile'),
    /^Error: tls\.clientCaFile '.*' contains no/,
  )
})
