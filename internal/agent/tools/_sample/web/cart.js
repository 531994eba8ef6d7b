// The cart in the browser.

const cart = new Map();

export function add(name, count = 1) {
  cart.set(name, (cart.get(name) ?? 0) + count);
}

export function remove(name) {
  cart.delete(name);
}

export function draw(list) {
  list.replaceChildren(
    ...[...cart].map(([name, count]) => {
      const item = document.createElement("li");
      item.textContent = `${count} x ${name}`;
      return item;
    }),
  );
  // TODO: say so when the cart is empty
}
