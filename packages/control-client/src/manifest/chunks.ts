import { createHash } from 'node:crypto'

/** Minimum chunk size in bytes. A file's last chunk may be smaller. */
const MIN_CHUNK_BYTES = 4096
/** Maximum chunk size in bytes. */
export const MAX_CHUNK_BYTES = 65_536
/** A chunk ends where these bits of the rolling hash are zero: after 12 KB on average, beyond the minimum. */
const BOUNDARY_MASK = 0x1fff << 19

/** A part of a file. */
export interface Chunk {
  /** SHA-256 of the bytes, hexadecimal. */
  readonly digest: string
  readonly bytes: Buffer
}

/** One pseudo-random number per byte value. It never changes: chunks of all versions must have the same boundaries. */
const GEAR = Int32Array.from({ length: 256 }, (_, byte) =>
  createHash('sha256').update(`sluice ${byte}`).digest().readInt32BE(),
)

/**
 * Divides a file at boundaries that depend only on the bytes before them ("content-defined chunking", FastCDC, Xia et
 * al., 2016). A change of one route in a document of 2 MB therefore changes one or two chunks, even if it moves all
 * bytes after it.
 */
export function chunksOf(content: Buffer): Chunk[] {
  const chunks: Chunk[] = []
  for (let start = 0; start < content.length; ) {
    const end = boundaryAfter(content, start)
    const bytes = content.subarray(start, end)
    chunks.push({ digest: chunkDigest(bytes), bytes })
    start = end
  }
  return chunks
}

/** Returns the digest of a chunk. */
export function chunkDigest(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function boundaryAfter(content: Buffer, start: number): number {
  const last = Math.min(start + MAX_CHUNK_BYTES, content.length)
  let hash = 0
  for (let i = start + MIN_CHUNK_BYTES; i < last; i++) {
    hash = ((hash << 1) + GEAR[content[i]!]!) | 0
    if ((hash & BOUNDARY_MASK) === 0) return i + 1
  }
  return last
}
