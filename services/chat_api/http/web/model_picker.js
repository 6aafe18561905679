import * as api from "./api.js";
import { el } from "./dom.js";
import { strings } from "./strings.js";

/** The choice of a model. It shows itself only where there is one: with two models and more. */
export class ModelPicker {
  #select = el("select", { id: "model" });
  #models = [];
  #selected = null;

  /** `choose(model)` gets the selected model, null for the default one. */
  constructor(choose) {
    this.node = el("div", { className: "model-picker", hidden: true });
    this.node.append(el("label", { for: "model" }, strings.model), this.#select);
    this.#select.addEventListener("change", () => {
      const model = this.#models.find((one) => one.id === this.#select.value);
      this.#selected = model?.default ? null : this.#select.value;
      choose(this.#selected);
    });
  }

  /** Null for the default model. */
  get selected() {
    return this.#selected;
  }

  /** A server without this list has one model. */
  async load() {
    try {
      this.#models = (await api.listModels()).data;
    } catch (fault) {
      if (!(fault instanceof api.ApiProblem)) throw fault;
      this.#models = [];
    }
    this.show(this.#selected);
  }

  show(selected) {
    this.#selected = selected;
    const known = this.#models.some((one) => one.id === selected);
    const gone = selected !== null && !known ? [this.#option(selected, strings.modelGone(selected), true)] : [];
    const options = this.#models.map((one) =>
      this.#option(one.id, one.default ? strings.modelDefault(one.id) : one.id, false),
    );
    this.#select.replaceChildren(...gone, ...options);
    this.#select.value = selected ?? this.#models.find((one) => one.default)?.id ?? "";
    this.node.hidden = options.length + gone.length < 2;
  }

  #option(value, label, disabled) {
    return el("option", { value, disabled }, label);
  }
}
