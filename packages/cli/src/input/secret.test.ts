import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { readSecret, type SecretInput } from './secret.js'

interface Terminal extends SecretInput {
  /** Each change of the raw mode. */
  readonly modes: boolean[]
}

function terminal(): Terminal & PassThrough {
  const modes: boolean[] = []
  return Object.assign(new PassThrough(), {
    isTTY: true,
    modes,
    setRawMode: (isRaw: boolean) => modes.push(isRaw),
  })
}

async function typed(...keys: readonly string[]): Promise<string | null> {
  const input = terminal()
  const secret = readSecret('password', input)
  for (const key of keys) input.write(key)
  const text = await secret
  assert.deepEqual(input.modes, [true, false], 'the terminal is left as it was')
  return text
}

function piped(...chunks: readonly (string | Buffer)[]): Promise<string | null> {
  const input = new PassThrough()
  for (const chunk of chunks) input.write(chunk)
  input.end()
  return readSecret('password', input)
}

test('a terminal is read in raw mode, so that nothing is echoed, up to the enter key', async () => {
  assert.equal(await typed('p', 'w', '\r'), 'pw')
  assert.equal(await typed('pw\nrest'), 'pw')
  assert.equal(await typed('pw', '\u0004'), 'pw')
})

test('the erase keys take back one character, whatever its width', async () => {
  assert.equal(await typed('a\u{1f511}\u007fb\b\u007f\u007fc\r'), 'c')
})

test('an interrupt gives no secret', async () => {
  assert.equal(await typed('pw', '\u0003'), null)
})

test('a pipe is read to its end, without the newline that ends it', async () => {
  assert.equal(await piped('pass word\n'), 'pass word')
  assert.equal(await piped('a\r\n'), 'a')
  assert.equal(await piped('a\n\n'), 'a\n')
  assert.equal(await piped(''), '')
})

test('characters that arrive in halves are put together', async () => {
  const bytes = Buffer.from('J\u00fc')
  assert.equal(await piped(bytes.subarray(0, 2), bytes.subarray(2)), 'J\u00fc')
})

test('what is too long to be a secret is refused before it fills the memory', async () => {
  await assert.rejects(piped('x'.repeat(4097)), /longer than 4096/)
  await assert.rejects(typed('x'.repeat(4097)), /longer than 4096/)
  assert.equal((await piped(`${'x'.repeat(4096)}\n`))?.length, 4096)
})
