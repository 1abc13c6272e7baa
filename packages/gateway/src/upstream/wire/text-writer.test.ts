import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import net from 'node:net'
import { type TestContext, test } from 'node:test'
import { TextWriter } from './text-writer.js'

const LINE = `${'a'.repeat(1023)}\n`

/** A connected socket, and the other end, which reads when it is told to. */
async function pair(t: TestContext): Promise<{ socket: net.Socket; other: net.Socket }> {
  const server = net.createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1')
  t.after(() => server.close())
  await once(server, 'listening')
  const socket = net.connect((server.address() as net.AddressInfo).port, '127.0.0.1')
  const [[other]] = (await Promise.all([once(server, 'connection'), once(socket, 'connect')])) as [
    [net.Socket],
    unknown,
  ]
  t.after(() => {
    socket.destroy()
    other.destroy()
  })
  return { socket, other }
}

function openWriter(socket: net.Socket): TextWriter {
  const writer = new TextWriter(socket)
  writer.open()
  return writer
}

test('texts and what the stream is given arrive in the order of the calls, whoever has to wait', async (t) => {
  const { socket, other } = await pair(t)
  const writer = openWriter(socket)
  let wanted = ''
  const write = (text: string, isBelow: boolean): void => {
    wanted += text
    if (isBelow) writer.write(text)
    else socket.write(text)
  }
  // The other end does not read: after some megabytes the system takes no more, and both ways have to wait.
  for (let i = 0; i < 16_000; i++) write(`${i} ${LINE}`, i % 5 !== 0)
  assert.ok(writer.unsentBytes > 0 && socket.writableLength > 0)
  let got = ''
  other.setEncoding('latin1').on('data', (text: string) => {
    got += text
  })
  other.resume()
  while (got.length < wanted.length) await once(other, 'data')
  assert.ok(got === wanted, 'another text, or another order')
  for (let turn = 0; writer.unsentBytes > 0; turn++) {
    assert.ok(turn < 100, `${writer.unsentBytes} bytes unsent`)
    await new Promise((resolve) => setImmediate(resolve))
  }
})

test('a text that fills the send buffer alone is counted until the system has it', async (t) => {
  const { socket, other } = await pair(t)
  const writer = openWriter(socket)
  const text = 'b'.repeat(8 * 1024 ** 2)
  writer.write(text)
  assert.equal(socket.writableLength, 0)
  assert.equal(writer.unsentBytes, text.length)
  let received = 0
  other.on('data', (bytes: Buffer) => {
    received += bytes.length
  })
  other.resume()
  while (received < text.length) await once(other, 'data')
  for (let turn = 0; writer.unsentBytes > 0 && turn < 100; turn++)
    await new Promise((resolve) => setImmediate(resolve))
  assert.equal(writer.unsentBytes, 0)
})

test('a write to an end that is gone ends the socket as its own writes would', async (t) => {
  for (const isWaiting of [false, true]) {
    const { socket, other } = await pair(t)
    const writer = openWriter(socket)
    const errors: (string | undefined)[] = []
    socket.on('error', (error: NodeJS.ErrnoException) => errors.push(error.code))
    const closed = new Promise((resolve) => socket.once('close', resolve))
    if (isWaiting) {
      // Nobody reads: the end is told by the write that is under way, and by nothing else.
      socket.pause()
      writer.write('b'.repeat(8 * 1024 ** 2))
      assert.ok(writer.unsentBytes > 0)
    }
    other.resetAndDestroy()
    await once(other, 'close')
    if (!isWaiting) for (let i = 0; i < 3; i++) writer.write(LINE)
    await closed
    assert.equal(writer.unsentBytes, 0)
    assert.ok(errors.length <= 1 && (errors[0] === 'ECONNRESET' || errors[0] === 'EPIPE'), String(errors))
    // Also behind its end.
    writer.write(LINE)
  }
})

test('a socket that does not show its handle is written to as a stream', () => {
  const texts: string[] = []
  const socket = { writableLength: 0, write: (text: string) => texts.push(text) } as unknown as net.Socket
  openWriter(socket).write(LINE)
  assert.deepEqual(texts, [LINE])
})

test('where Node.js does not show what is below streams, the stream is written to', () => {
  const script = `
    process.binding = undefined
    const { TextWriter } = await import(${JSON.stringify(new URL('./text-writer.js', import.meta.url).href)})
    const handle = { writeLatin1String: () => console.log('the handle') }
    const writer = new TextWriter({ _handle: handle, writableLength: 0, write: (text) => console.log(text) })
    writer.open()
    writer.write('the stream')
  `
  const options = { encoding: 'utf8' } as const
  const { stdout, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], options)
  assert.equal(stdout, 'the stream\n', stderr)
})
