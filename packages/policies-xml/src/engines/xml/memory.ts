import { UnreadableBody } from '@sluice/core'

/** Maximum memory of all open documents of a process, in bytes. Their memory grows and never shrinks. */
const MAX_OPEN_BYTES = 256 * 1024 * 1024

/** Memory of a node without its text, including allocator overhead, in bytes. */
const NODE_BYTES = 150

let openBytes = 0

/**
 * Reserves memory for a document before it is parsed, because libxml2 corrupts its memory if an allocation fails.
 * @returns the number of bytes to release later.
 */
export function reserveMemory(bodyBytes: number, nodes: number): number {
  // The parser gets a copy of the bytes, and the tree contains their text.
  const bytes = 2 * bodyBytes + NODE_BYTES * nodes
  if (openBytes + bytes > MAX_OPEN_BYTES)
    throw new UnreadableBody('GW_OVERLOADED', 'too many XML documents are being processed; try again')
  openBytes += bytes
  return bytes
}

/** Releases memory that `reserveMemory` reserved. */
export function releaseMemory(bytes: number): void {
  openBytes -= bytes
}

/** Returns the memory of the open documents in bytes. */
export function openXmlBytes(): number {
  return openBytes
}
