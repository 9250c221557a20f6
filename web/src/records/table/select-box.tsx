/** The checkbox of a row, of a group or of all rows. The grid around it handles presses and keys. */
export function SelectBox({ label, isSelected }: { label: string; isSelected: boolean | 'some' }) {
  return (
    <input
      type="checkbox"
      tabIndex={-1}
      aria-label={label}
      checked={isSelected === true}
      ref={box => {
        if (box) box.indeterminate = isSelected === 'some'
      }}
      readOnly
      className="pointer-events-none size-4 accent-accent"
    />
  )
}
