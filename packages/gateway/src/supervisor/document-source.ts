import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'

/** The text of a document and what to call it in messages. */
export interface Source {
  readonly text: string
  readonly name: string
}

/** Largest document accepted, from a file or over the API, in bytes; 10,000 routes take about 2 MB. */
export const MAX_DOCUMENT_BYTES = 4 * 1024 * 1024

/** Reads a document from a file. @throws Error that says what to do, with the file system's error as its cause. */
export async function readDocument(path: string): Promise<Source> {
  try {
    return { text: await boundedText(path), name: path }
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    throw new Error(`${path} cannot be read (${reason}); check the path and its permissions`, { cause: error })
  }
}

/** Tells two texts apart without keeping either. */
export function fingerprint(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

async function boundedText(path: string): Promise<string> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    if (size > MAX_DOCUMENT_BYTES) throw new Error(`it is larger than ${MAX_DOCUMENT_BYTES} bytes`)
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}
