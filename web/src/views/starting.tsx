// Until it is known who is signed in: the shape of what is to come, drawn only where that takes a while.
export function StartingView() {
  return (
    <div class="starting" role="status" aria-busy="true">
      <span class="visually-hidden">Loading…</span>
      <span class="skeleton title" />
      <div class="card starting-facts">
        {['first', 'second', 'third', 'fourth'].map((name) => (
          <span key={name} class="skeleton" />
        ))}
      </div>
      <div class="card starting-rows">
        {Array.from({ length: 8 }, (_row, row) => (
          <span key={row} class="skeleton" />
        ))}
      </div>
    </div>
  );
}
