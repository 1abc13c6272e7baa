export type CsvCell = string | number | boolean | null

/** Rows as RFC 4180 says: CRLF, quotes around what needs them, quotes doubled. Null and what is no finite number are empty. */
export function csvText(rows: readonly (readonly CsvCell[])[]): string {
  return rows.map((row) => `${row.map(cellText).join(',')}\r\n`).join('')
}

function cellText(cell: CsvCell): string {
  if (cell === null || (typeof cell === 'number' && !Number.isFinite(cell))) return ''
  const text = String(cell)
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
