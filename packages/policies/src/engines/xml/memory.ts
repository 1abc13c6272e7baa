import { UnreadableBody } from '@sluice/core'

/** What all documents of a process may take together, in bytes: their memory grows once and never shrinks. */
const MAX_OPEN_BYTES = 256 * 1024 * 1024

/** What a node takes beside its text, with the allocator's share. */
const NODE_BYTES = 150

let openBytes = 0

/**
 * Reserves the memory of a document before it is parsed, because the library writes over its own memory when it gets
 * no more.
 * @returns what has to be given back.
 */
export function takeMemory(bodyBytes: number, nodes: number): number {
  // The bytes are copied for the parser, and their text stands in the tree.
  const bytes = 2 * bodyBytes + NODE_BYTES * nodes
  if (openBytes + bytes > MAX_OPEN_BYTES) {
    throw new UnreadableBody('GW_OVERLOADED', 'too many XML documents are being read at once; try again')
  }
  openBytes += bytes
  return bytes
}

export function giveBackMemory(bytes: number): void {
  openBytes -= bytes
}

/** What the open documents take, in bytes; zero when all were closed. */
export function openXmlBytes(): number {
  return openBytes
}
