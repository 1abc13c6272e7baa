import { type MemoryTable, messageOf, type StateStore } from '@sluice/core'

/** A call of the state store, as sent between a worker and the supervisor. */
export type StateCall = {
  [M in keyof StateStore]: readonly [method: M, ...args: Parameters<StateStore[M]>]
}[keyof StateStore]

/** Result of a call; `refused` holds the error message. */
export type StateResult = { readonly value: unknown } | { readonly refused: string }

/**
 * Maximum size of the values in one message. A worker that reads slowly must not make the supervisor buffer
 * everything it asked for.
 */
const MAX_ANSWER_BYTES = 4 * 1024 ** 2

/** Executes the calls of one message in order. */
export function answerCalls(
  tableOf: (key: string) => MemoryTable,
  calls: readonly StateCall[],
): StateResult[] {
  let bytes = 0
  return calls.map((call) => {
    if (bytes > MAX_ANSWER_BYTES)
      return { refused: 'the values are too large for one message; request fewer at once' }
    try {
      const value = answer(tableOf(call[1]), call)
      if (value instanceof Uint8Array) bytes += value.length
      return { value }
    } catch (error) {
      return { refused: messageOf(error) }
    }
  })
}

function answer(table: MemoryTable, call: StateCall): unknown {
  switch (call[0]) {
    case 'get':
      return table.get(call[1])
    case 'set':
      return table.set(call[1], call[2], call[3], call[4])
    case 'delete':
      return table.delete(call[1])
    case 'add':
      return table.add(call[1], call[2], call[3])
    case 'take':
      return table.take(call[1], call[2], call[3])
    case 'giveBack':
      return table.giveBack(call[1], call[2], call[3])
    case 'list':
      return table.list(call[1], call[2])
    case 'deleteAll':
      return table.deleteAll(call[1])
  }
}
