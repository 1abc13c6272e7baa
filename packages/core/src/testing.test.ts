import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { test } from 'node:test'

test('the keys of a pair can be exported while their generator job is garbage-collected', () => {
  const made = `
    import { keyPair } from '${new URL('testing.js', import.meta.url)}'
    for (let i = 0; i < 200; i++) {
      const { publicKey, privateKey } = keyPair('ed25519')
      for (let times = 0; times < 50; times++) {
        publicKey.export({ format: 'jwk' })
        privateKey.export({ format: 'jwk' })
      }
    }
    console.log('done')`
  const flags = ['--max-semi-space-size=1', '--input-type=module', '--eval', made]
  const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: 'utf8', timeout: 60_000 })
  assert.equal(stdout, 'done\n', stderr)
})
