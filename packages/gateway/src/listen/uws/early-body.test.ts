import type { HttpResponse } from 'uWebSockets.js'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { UwsClientStream } from './client-stream.js'
import { EarlyBody, MAX_EARLY_BYTES } from './early-body.js'
import { enterParser, leaveParser } from './parser-turn.js'
import { StalledStreams } from './stalled-streams.js'

const READ_BYTES = 512 * 1024

/** Stub of the uWS response for the body: it keeps reading in spite of a pause. */
class ResponseStub {
  isClosed = false
  sendBody: (chunk: ArrayBuffer, isLast: boolean) => void = () => {}
  #onAborted = (): void => {}

  onAborted(listener: () => void): void {
    this.#onAborted = listener
  }
  onData(listener: (chunk: ArrayBuffer, isLast: boolean) => void): void {
    this.sendBody = listener
  }
  pause(): void {}
  resume(): void {}
  cork(work: () => void): void {
    work()
  }
  close(): void {
    this.isClosed = true
    this.#onAborted()
  }
}

function openStream(): { readonly stub: ResponseStub; readonly client: UwsClientStream } {
  const stub = new ResponseStub()
  const client = new UwsClientStream(stub as unknown as HttpResponse, true, false, new StalledStreams())
  return { stub, client }
}

/** Reads of one turn, until all is sent or the connection is closed. */
function flood(stub: ResponseStub, bytes: number, isWhole: boolean): void {
  for (let sent = 0; sent < bytes && !stub.isClosed; sent += READ_BYTES) {
    const chunk = new Uint8Array(READ_BYTES).fill((sent / READ_BYTES) % 251)
    stub.sendBody(chunk.buffer, isWhole && sent + READ_BYTES >= bytes)
  }
}

test('chunks that arrive before there is a receiver are delivered in order, the end with the last one', () => {
  const { stub, client } = openStream()
  const bytes = 40 * READ_BYTES
  flood(stub, bytes, true)
  let got = 0
  let ends = 0
  client.readBody({
    onBodyChunk(chunk, isLast) {
      for (let i = 0; i < chunk.length; i += 4096) {
        assert.equal(chunk[i], Math.floor((got + i) / READ_BYTES) % 251)
      }
      got += chunk.length
      if (isLast) assert.equal(got, bytes)
      ends += isLast ? 1 : 0
    },
  })
  assert.deepEqual({ got, ends }, { got: bytes, ends: 1 })
})

test('an early body is not kept in memory, and is limited', () => {
  const body = new EarlyBody()
  const chunk = new Uint8Array(READ_BYTES)
  const before = process.memoryUsage().arrayBuffers
  let taken = 0
  while (body.add(chunk)) taken += chunk.length
  assert.equal(taken, MAX_EARLY_BYTES)
  assert.ok(process.memoryUsage().arrayBuffers - before < 16 * 1024 * 1024)
  body.close()
  assert.equal(body.isEmpty, true)
})

test('an unread sender that never pauses is cut', () => {
  const { stub, client } = openStream()
  let isAborted = false
  client.owner = {
    onClientAbort() {
      isAborted = true
    },
    onClientDrain() {},
    onBodyInvalid() {},
  }
  flood(stub, 2 * MAX_EARLY_BYTES, false)
  assert.deepEqual({ isClosed: stub.isClosed, isAborted }, { isClosed: true, isAborted: true })
})

test('nothing is kept of a body whose request was answered, and a sender that never pauses is cut', () => {
  const { stub, client } = openStream()
  enterParser()
  client.closeAfter = true
  client.send(404, [], 'no')
  leaveParser()
  flood(stub, MAX_EARLY_BYTES, false)
  assert.equal(stub.isClosed, false)
  client.readBody({ onBodyChunk: () => assert.fail('a piece was kept') })
  flood(stub, MAX_EARLY_BYTES, false)
  assert.equal(stub.isClosed, true)
})
