crlf() { echo crlf; }
alias cr=crlf
