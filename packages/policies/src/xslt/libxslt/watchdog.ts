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
  /** The run that was on when it looked last, and how often it has seen that one. */
  run: number
  looks: number
  /** How often the memory was overwritten. */
  fillings: number
}

const watched = new Map<number, Watched>()

parentPort?.on('message', (order: WatchdogOrder) => {
  if (order.kind === 'forget') watched.delete(order.id)
  else watched.set(order.id, { ...order, run: 0, looks: 0, fillings: 0 })
})

setInterval(() => {
  for (const each of watched.values()) look(each)
}, LOOK_MS)

/** Time is counted in looks: on a machine that gives nobody a processor, the watchdog does not get one either. */
function look(each: Watched): void {
  const run = Atomics.load(each.state, STATE.run)
  if (run !== each.run) {
    each.run = run
    each.looks = 0
    return
  }
  const isRunning = (run & 1) === 1
  if (!isRunning || ++each.looks * LOOK_MS < each.state[STATE.timeoutMs]!) return
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
