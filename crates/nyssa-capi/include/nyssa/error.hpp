// Errors as exceptions, handles that close themselves, and the contexts of work.

#ifndef NYSSA_ERROR_HPP
#define NYSSA_ERROR_HPP

#include <nyssa.h>

#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <utility>

namespace nyssa {

// An error of nyssa. Its text says whose fault it is, where, and what to do.
class Error : public std::runtime_error {
public:
  Error(nyssa_status status, const std::string &message, std::string details = "{}")
      : std::runtime_error(message), status_(status), details_(std::move(details)) {}

  // The kind of the error.
  nyssa_status status() const { return status_; }
  // The place and the nearest names, as JSON.
  const std::string &details() const { return details_; }

private:
  nyssa_status status_;
  std::string details_;
};

class Context;

namespace detail {

[[noreturn]] inline void refuse(const std::string &message) { throw Error(NYSSA_INVALID_ARGUMENT, message); }

// Returns what a function of `nyssa.h` takes for an argument.
template <class Argument> Argument &&given(Argument &&argument) { return std::forward<Argument>(argument); }
inline const nyssa_context *given(const Context *context);

// Throws what the callback of a context has thrown.
template <class Argument> void rethrow(const Argument &) {}
inline void rethrow(const Context *context);

// Calls a function of `nyssa.h` with a place for its error, which is thrown. What a callback has thrown comes first, also if the
// work was done; so the caller owns what it gets before this returns.
template <class Function, class... Arguments> void call(Function function, Arguments &&...arguments) {
  nyssa_error *error = nullptr;
  const nyssa_status status = function(given(std::forward<Arguments>(arguments))..., &error);
  std::unique_ptr<nyssa_error, decltype(&nyssa_error_free)> held(error, &nyssa_error_free);
  if (status == NYSSA_OK || status == NYSSA_CANCELLED)
    (rethrow(arguments), ...);
  if (status != NYSSA_OK)
    throw Error(status, nyssa_error_message(error), nyssa_error_details(error));
}

// Returns the text of a function that gives one.
template <class Function, class... Arguments> std::string text(Function function, Arguments &&...arguments) {
  struct Text {
    char *given = nullptr;
    ~Text() { nyssa_text_free(given); }
  } text;
  call(function, std::forward<Arguments>(arguments)..., &text.given);
  return text.given;
}

// What a context calls, and what this has thrown.
struct Callback {
  std::function<bool(uint64_t done, uint64_t total)> progress;
  std::mutex lock;
  std::exception_ptr thrown;

  void rethrow() {
    std::exception_ptr taken;
    {
      std::lock_guard<std::mutex> held(lock);
      std::swap(taken, thrown);
    }
    if (taken)
      std::rethrow_exception(taken);
  }
};

// Holds a handle and closes it.
template <class Opaque> class Handle {
public:
  Handle() = default;
  explicit Handle(Opaque *handle) : handle_(handle) {}
  Handle(Handle &&other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Handle &operator=(Handle &&other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Handle() { nyssa_close(handle_); }
  Opaque *get() const { return handle_; }
  Opaque **place() { return &handle_; }

private:
  Opaque *handle_ = nullptr;
};

// Holds a struct of the Arrow C data interface and releases it.
template <class Struct> class Arrow {
public:
  Arrow() = default;
  explicit Arrow(const Struct &taken) : held_(taken) {}
  Arrow(Arrow &&other) noexcept : held_(std::exchange(other.held_, Struct{})) {}
  Arrow &operator=(Arrow &&other) noexcept {
    std::swap(held_, other.held_);
    return *this;
  }
  ~Arrow() {
    if (held_.release)
      held_.release(&held_);
  }
  Struct *get() { return &held_; }
  const Struct *get() const { return &held_; }

private:
  Struct held_{};
};

} // namespace detail

// The threads of work, its progress and its end.
class Context {
public:
  // A callback that gets what is done and the total, and returns whether the work goes on. Threads of nyssa call it. After
  // false or an exception, the context is cancelled; the function that works throws the exception.
  using Progress = std::function<bool(uint64_t done, uint64_t total)>;

  // 0 threads means all cores.
  explicit Context(uint32_t threads = 0, Progress progress = nullptr) : callback_(std::make_shared<detail::Callback>()) {
    callback_->progress = std::move(progress);
    auto *function = callback_->progress ? &Context::report : nullptr;
    detail::call(nyssa_context_new, threads, function, static_cast<void *>(callback_.get()), handle_.place());
  }

  Context(Context &&other) = default;
  Context &operator=(Context &&other) noexcept {
    std::swap(callback_, other.callback_);
    std::swap(handle_, other.handle_);
    return *this;
  }

  // Cancels the work; with false, later calls work again.
  void cancel(bool cancelled = true) const { detail::call(nyssa_context_cancel, handle_.get(), cancelled); }
  const nyssa_context *get() const { return handle_.get(); }

private:
  friend void detail::rethrow(const Context *context);
  friend class Dataset;

  static int32_t report(void *user, uint64_t done, uint64_t total) {
    auto *callback = static_cast<detail::Callback *>(user);
    try {
      return callback->progress(done, total) ? 0 : 1;
    } catch (...) {
      std::lock_guard<std::mutex> held(callback->lock);
      callback->thrown = std::current_exception();
      return 1;
    }
  }

  std::shared_ptr<detail::Callback> callback_;
  detail::Handle<nyssa_context> handle_;
};

namespace detail {

inline const nyssa_context *given(const Context *context) { return context ? context->get() : nullptr; }

inline void rethrow(const Context *context) {
  if (context && context->callback_)
    context->callback_->rethrow();
}

} // namespace detail

} // namespace nyssa

#endif
