/** What a person wrote into a field of a form, without the blanks around it. */
export function formText(form: FormData, name: string): string {
  const given = form.get(name)
  return typeof given === 'string' ? given.trim() : ''
}
