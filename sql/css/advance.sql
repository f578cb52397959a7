-- needs: css/passage.sql, css/op_fire.sql
-- The advance after an assault in css (Guam): 6.3, 9.3, 9.4.

create or replace function css._advance_bars(
  position_id bigint,
  side text,
  mobility text,
  units integer,
  codes text[],
  tank boolean,
  readings jsonb,
  inside boolean,
  aq integer,
  ar integer,
  bq integer,
  br integer
)
returns table (rule text, effect text, note text, point text)
language sql stable rows 1
as $$
  select '6.3', 'forbids', 'from a cave only the hex above it is assaulted', null
  where inside and (aq, ar) <> (bq, br)
  union all
  select '6.3', 'forbids', 'nobody assaults into a cave', null
  where not inside and (aq, ar) = (bq, br)
  union all
  select bar.*
  from css._step_bars(
    _advance_bars.position_id, _advance_bars.side, mobility, units, codes, inside, aq, ar, bq, br, true
  ) as bar
  where not inside or (aq, ar) = (bq, br)
  union all
  -- 9.3: who cannot enter does not assault; what is not carried stays behind or is lost
  select part.rule, part.effect, part.note, part.point
  from css._best_way(
    _advance_bars.position_id, aq, ar, bq, br, mobility, false, tank, readings, false, false, 0, _advance_bars.side
  ) as part
  where part.effect <> 'cost' and (aq, ar) <> (bq, br)
$$;

comment on function css._advance_bars(
  bigint, text, text, integer, text[], boolean, jsonb, boolean, integer, integer, integer, integer
) is
'What keeps a unit from a hex that was assaulted (6.3, 9.3).';

create or replace function css._advance(
  position_id bigint, unit text, qs integer[], rs integer[], options jsonb, conditions jsonb, policy jsonb
)
returns table (
  rule text,
  clause text,
  at text,
  effect text,
  note text,
  point text,
  halves integer,
  remaining integer,
  by text
)
language plpgsql stable rows 4
as $$
#variable_conflict use_variable
declare
  mover record;
  verdict text := 'legal';
  why text := 'into the hex that was assaulted; it draws no fire';
  there text;
  disorder integer;
  changed jsonb;
  held text;
begin
  select * into mover from css._mover(position_id, unit, options, conditions, policy);
  if cardinality(qs) <> 2 then
    raise exception 'an advance goes one hex' using errcode = 'no_data_found';
  end if;
  select hex.label into there
  from public.hex
  where hex.map_id = mover.map_id and hex.q = qs[2] and hex.r = rs[2];
  at := there;
  for rule, effect, note, point in
    select * from css._advance_bars(
      position_id, mover.side, mover.mobility, mover.units, mover.codes, mover.tank, mover.readings, mover.inside,
      qs[1], rs[1], qs[2], rs[2]
    )
  loop
    verdict := case when effect = 'forbids' or verdict = 'illegal' then 'illegal' else 'unknown' end;
    why := note;
    return next;
  end loop;
  if verdict = 'legal' then
    return query
    select shot.rule, shot.clause, shot.at, shot.effect, shot.note, shot.point, null::integer, null::integer, shot.by
    from css._triggers(position_id, unit, qs, rs, options, conditions, policy) as shot
    union all
    select gone.rule, null, gone.at, gone.effect, gone.note, null, null, null, gone.by
    from css._left_alone(
      position_id, mover.side, mover.codes, mover.q, mover.r, mover.label, mover.inside
    ) as gone
    where not mover.inside;
    for rule, at, effect, note, point, halves, disorder, changed, held in
      select * from css._step_changes(
        position_id, mover.side, mover.codes, mover.now, mover.readings, qs[1], rs[1], qs[2], rs[2], mover.label,
        there, mover.inside, css._dg_at(position_id, mover.q, mover.r, mover.inside), '{}'
      )
    loop
      exit when effect is null;
      return next;
    end loop;
    point := null;
    for rule, at, effect, note, halves in
      select * from css._arrival(
        position_id, mover.side, mover.service, mover.codes, qs[2], rs[2], there, false, disorder, changed
      )
    loop
      verdict := case effect when 'forbids' then 'illegal' when 'unknown' then 'unknown' else verdict end;
      why := case when verdict <> 'legal' then note else why end;
      return next;
    end loop;
    halves := null;
    at := there;
  end if;
  if verdict = 'legal' and mover.weapons > 0 then
    for note in
      select hexside.kind
      from public.hexside
      where hexside.map_id = mover.map_id
        and hexside.x = qs[1] + qs[2]
        and hexside.y = rs[1] + rs[2]
        and hexside.kind in ('steep_slope', 'ridge')
    loop
      rule := '6.2.2';
      effect := 'removes';
      point := 'css-40';
      note := case
        when mover.readings ->> 'css-40' = 'b' then 'its support weapon stays behind'
        when mover.side = 'japan' and note = 'steep_slope' then 'its support weapon leaves the game'
        else 'its support weapon goes to the Reallocating box'
      end;
      why := note;
      return next;
    end loop;
  end if;
  rule := '9.4';
  effect := verdict;
  note := why;
  point := null;
  halves := 0;
  return next;
end
$$;

comment on function css._advance(bigint, text, integer[], integer[], jsonb, jsonb, jsonb) is
'The advance into a hex that was assaulted: no points, no opportunity fire (8.6, 9.4).';
