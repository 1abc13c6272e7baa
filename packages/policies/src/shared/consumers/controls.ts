const CONTROLS = /[\u0000-\u001f\u007f]/

/** Whether a text has control characters: no header and no line of a log can hold it, so that it names nobody. */
export function hasControls(text: string): boolean {
  return CONTROLS.test(text)
}
