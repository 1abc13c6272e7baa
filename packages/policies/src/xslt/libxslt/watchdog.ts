import { parentPort } from 'node:worker_threads'
import { STATE, type WatchdogOrder } from './deadline.js'
import type { WasmMemory } from './web-assembly.js'

/** How often it looks; a run may take so much longer than it may. */
const LOOK_MS = 25
/**
 * What the memory is overwritten with, in turn: pointers beyond its end, pointers to nowhere and free locks, and once
 * more something else for code that waits for a value to change.
 */
const FILLINGS = [0xff, 0x00, 0xaa] as const
/** From this look on it also wakes whoever waits for a lock. */
const WAKE_AFTER = 6

interface Watched {
  readonly state: Int32Array
  readonly memory: WasmMemory
  /** The run that was on when it looked last, and since when. */
  run: number
  sinceMono: number
  /** How often the memory was overwritten. */
  fillings: number
}

const watched = new Map<number, Watched>()

parentPort?.on('message', (order: WatchdogOrder) => {
  if (order.kind === 'forget') watched.delete(order.id)
  else watched.set(order.id, { ...order, run: 0, sinceMono: 0, fillings: 0 })
})

setInterval(() => {
  for (const each of watched.values()) look(each, performance.now())
}, LOOK_MS)

function look(each: Watched, nowMono: number): void {
  const run = Atomics.load(each.state, STATE.run)
  if (run !== each.run) {
    each.run = run
    each.sinceMono = nowMono
    return
  }
  const isRunning = (run & 1) === 1
  if (!isRunning || nowMono - each.sinceMono < each.state[STATE.timeoutMs]!) return
  Atomics.store(each.state, STATE.isOver, 1)
  // The run may have ended meanwhile: whoever ran it looks at isOver then, and throws the instance away.
  overwrite(each)
}

function overwrite(each: Watched): void {
  const bytes = new Uint8Array(each.memory.buffer)
  bytes.fill(FILLINGS[each.fillings % FILLINGS.length]!)
  each.fillings++
  if (each.fillings < WAKE_AFTER) return
  const words = new Int32Array(each.memory.buffer)
  for (let i = 0; i < words.length; i++) Atomics.notify(words, i)
}
